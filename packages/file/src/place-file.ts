import path from "node:path";
import { createFlags, errnoOf, type FileSystem, writeFully } from "./client.js";
import type { TemporaryNames } from "./temporary-files.js";

/**
 * Places whole files (FW-FILE-01). States of a file: temporary being written, temporary complete and flushed, visible. A
 * name of a message only ever points to a complete file; a crash leaves a temporary at most.
 */
export class FilePlacer {
  readonly #files: FileSystem;
  readonly #names: TemporaryNames;
  readonly #flush: boolean;
  /** Temporaries that could not be removed yet; bounded, the rest is found at the next start. */
  readonly #left: string[] = [];

  constructor(files: FileSystem, names: TemporaryNames, flush: boolean) {
    this.#files = files;
    this.#names = names;
    this.#flush = flush;
  }

  /** A new name for a temporary in `folder`. */
  temporaryIn(folder: string): string {
    return `${folder}${path.sep}${this.#names.next()}`;
  }

  /** Writes a complete, flushed temporary into `folder` and gives its path. */
  async prepare(folder: string, bytes: Uint8Array): Promise<string> {
    const temporary = this.temporaryIn(folder);
    const descriptor = await this.#files.open(temporary, createFlags);
    try {
      await this.#fill(descriptor, bytes);
    } catch (error) {
      await this.discard(temporary);
      throw error;
    }
    return temporary;
  }

  async #fill(descriptor: number, bytes: Uint8Array): Promise<void> {
    try {
      await writeFully(this.#files, descriptor, bytes, 0);
      if (this.#flush) await this.#files.syncData(descriptor);
    } catch (error) {
      await this.#files.close(descriptor).catch(() => undefined);
      throw error;
    }
    // A failing close may be the first news of a failed write where nothing was flushed.
    await this.#files.close(descriptor);
  }

  /** Makes the temporary visible as `target`; false when something is there already. The temporary stays. */
  async link(temporary: string, target: string): Promise<boolean> {
    try {
      await this.#files.link(temporary, target);
      return true;
    } catch (error) {
      if (errnoOf(error) === "EEXIST") return false;
      throw error;
    }
  }

  /** Puts the temporary in the place of whatever file is at `target`; the temporary is gone then. */
  async replace(temporary: string, target: string): Promise<void> {
    await this.#files.rename(temporary, target);
  }

  /** Removes a temporary; what cannot be removed is tried again later and never fails a message (FW-ERR-06). */
  async discard(temporary: string): Promise<void> {
    try {
      await this.#files.unlink(temporary);
    } catch (error) {
      if (errnoOf(error) !== "ENOENT" && this.#left.length < 10_000) this.#left.push(temporary);
    }
  }

  /** Tries once more to remove what was left. */
  async tidy(): Promise<void> {
    for (const temporary of this.#left.splice(0)) await this.discard(temporary);
  }
}
