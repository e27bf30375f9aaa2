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

/** What a stored record says, as far as tests look at it. */
export interface StoredRecord {
  readonly stream_sequence: number;
  readonly message_id: string | null;
}

/** The records that the file sink has made visible below a folder, by sequence. */
export async function storedRecords(folder: string): Promise<readonly StoredRecord[]> {
  const texts = await Promise.all((await filesBelow(folder)).map(recordsOf));
  const records = texts.flat().map((text) => JSON.parse(text) as StoredRecord);
  return records.sort((one, other) => one.stream_sequence - other.stream_sequence);
}

/** Stream sequences of those records, with how often each is there. */
export async function storedSequences(folder: string): Promise<ReadonlyMap<number, number>> {
  const stored = new Map<number, number>();
  for (const { stream_sequence: sequence } of await storedRecords(folder)) stored.set(sequence, (stored.get(sequence) ?? 0) + 1);
  return stored;
}
