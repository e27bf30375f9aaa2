import { readdir, readFile } from "node:fs/promises";
import path from "node:path";

interface StoredRecord {
  readonly stream_sequence: number;
  readonly metadata: { readonly jetstream: { readonly delivery_count: number } };
}

/**
 * Of every stream sequence that the file sink has made visible, the delivery counts of its copies, for example `[1, 3]`: which
 * deliveries of the message were written. A file of one message is read once.
 */
export class StoredCopies {
  readonly #folder: string;
  readonly #files = new Map<string, readonly StoredRecord[]>();

  constructor(folder: string) {
    this.#folder = folder;
  }

  async read(): Promise<ReadonlyMap<number, readonly number[]>> {
    const entries = await readdir(this.#folder, { withFileTypes: true, recursive: true }).catch(() => []);
    const copies = new Map<number, number[]>();
    for (const entry of entries) {
      if (!entry.isFile() || entry.name.startsWith(".")) continue;
      for (const { stream_sequence: sequence, metadata } of await this.#records(path.join(entry.parentPath, entry.name))) {
        const counts = copies.get(sequence) ?? [];
        counts.push(metadata.jetstream.delivery_count);
        copies.set(sequence, counts);
      }
    }
    return copies;
  }

  /** A file of one message never changes; a segment grows, and a torn last line is no record yet. */
  async #records(file: string): Promise<readonly StoredRecord[]> {
    const known = this.#files.get(file);
    if (known !== undefined) return known;
    const text = await readFile(file, "utf8");
    const whole = file.endsWith(".json");
    const lines = whole ? [text] : file.endsWith(".ndjson") ? text.split("\n").slice(0, -1) : [];
    const records = lines.map((line) => JSON.parse(line) as StoredRecord);
    if (whole) this.#files.set(file, records);
    return records;
  }
}
