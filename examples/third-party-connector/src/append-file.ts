import { constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import path from "node:path";
import { DestinationUnavailableError } from "@sinks/core";

/** What is needed of an open file; tests put faults between. */
export type OpenFile = Pick<FileHandle, "write" | "datasync" | "truncate" | "stat" | "close">;

const newline = 10;
const chunkBytes = 65_536;

/**
 * A file that grows by whole lines. `size` is where the last durable line ends; bytes beyond it are of a write that failed and
 * are cut off before the next one. Writes take turns, so lines of two batches never mix.
 */
export class AppendFile {
  readonly #file: OpenFile;
  #size: number;
  #torn = false;
  #last: Promise<void> = Promise.resolve();

  constructor(file: OpenFile, size: number) {
    this.#file = file;
    this.#size = size;
  }

  /** Opens or makes a file and cuts off the part of a line that a crash left at its end. */
  static async open(name: string): Promise<AppendFile> {
    const handle = await open(name, constants.O_RDWR | constants.O_CREAT, 0o666);
    try {
      const size = await endOfLastLine(handle);
      await handle.truncate(size);
      await handle.sync();
      await syncFolder(path.dirname(name));
      return new AppendFile(handle, size);
    } catch (error) {
      await handle.close();
      throw error;
    }
  }

  /** Resolves when the lines are on the disk; rejects with nothing of them kept. */
  append(lines: Uint8Array): Promise<void> {
    const turn = this.#last.catch(() => undefined).then(() => this.#write(lines));
    this.#last = turn;
    return turn;
  }

  /** Rejects when the file was removed, or somebody else writes it: lines written now might be lost. */
  async check(): Promise<void> {
    const { nlink, size } = await this.#file.stat();
    if (nlink === 0) throw new DestinationUnavailableError("the line log was removed; start the pipeline again");
    if (!this.#torn && size !== this.#size) throw new DestinationUnavailableError("another process writes the line log; stop it");
  }

  async close(): Promise<void> {
    await this.#last.catch(() => undefined);
    await this.#file.close();
  }

  async #write(lines: Uint8Array): Promise<void> {
    if (this.#torn) {
      await this.#file.truncate(this.#size);
      this.#torn = false;
    }
    await this.check();
    this.#torn = true;
    for (let written = 0; written < lines.length; ) {
      const { bytesWritten } = await this.#file.write(lines, written, lines.length - written, this.#size + written);
      written += bytesWritten;
    }
    await this.#file.datasync();
    this.#size += lines.length;
    this.#torn = false;
  }
}

async function endOfLastLine(handle: FileHandle): Promise<number> {
  const chunk = Buffer.alloc(chunkBytes);
  for (let end = (await handle.stat()).size; end > 0; ) {
    const start = Math.max(0, end - chunkBytes);
    const { bytesRead } = await handle.read(chunk, 0, end - start, start);
    const at = chunk.lastIndexOf(newline, bytesRead - 1);
    if (bytesRead > 0 && at >= 0) return start + at + 1;
    end = start;
  }
  return 0;
}

/** Makes the entry of a new file durable. */
async function syncFolder(folder: string): Promise<void> {
  await using handle = await open(folder, constants.O_RDONLY | constants.O_DIRECTORY);
  await handle.sync();
}
