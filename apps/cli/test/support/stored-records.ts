import { readdir, readFile } from "node:fs/promises";
import path from "node:path";

async function filesBelow(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true, recursive: true }).catch(() => []);
  return entries.filter((entry) => entry.isFile() && !entry.name.startsWith(".")).map((entry) => path.join(entry.parentPath, entry.name));
}

/** Records of one file: a whole message file, or the complete lines of a segment; a torn last line is no record yet. */
async function recordsOf(file: string): Promise<readonly string[]> {
  const text = await readFile(file, "utf8");
  if (file.endsWith(".json")) return [text];
  return file.endsWith(".ndjson") ? text.split("\n").slice(0, -1) : [];
}

/** Stream sequences of the records that the file sink has made visible below a folder, with how often each is there. */
export async function storedSequences(folder: string): Promise<ReadonlyMap<number, number>> {
  const stored = new Map<number, number>();
  for (const file of await filesBelow(folder)) {
    for (const record of await recordsOf(file)) {
      const { stream_sequence: sequence } = JSON.parse(record) as { stream_sequence: number };
      stored.set(sequence, (stored.get(sequence) ?? 0) + 1);
    }
  }
  return stored;
}
