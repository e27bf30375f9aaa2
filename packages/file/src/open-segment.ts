import path from "node:path";
import { createFlags, errnoOf, type FileSystem, writeFully } from "./client.js";
import { syncFolder } from "./directory-sync.js";
import { removeLock } from "./segment-lock.js";

/**
 * A segment this process writes. Its durable length only grows by whole batches; after any failure the rest is cut before
 * anything else is written, so that bytes whose fate is unknown never stay in front of new ones.
 */
export class OpenSegment {
  readonly name: string;
  readonly stream: string | null;
  readonly #files: FileSystem;
  readonly #root: string;
  readonly #descriptor: number;
  readonly #inode: bigint;
  readonly #flush: boolean;
  #durable = 0;
  #dirty = false;

  private constructor(
    files: FileSystem,
    root: string,
    name: string,
    stream: string | null,
    descriptor: number,
    inode: bigint,
    flush: boolean,
  ) {
    this.#files = files;
    this.#root = root;
    this.name = name;
    this.stream = stream;
    this.#descriptor = descriptor;
    this.#inode = inode;
    this.#flush = flush;
  }

  /** Makes an empty segment, its entry in the root flushed together with that of its lock, which must be there already. */
  static async create(files: FileSystem, root: string, name: string, stream: string | null, flush: boolean): Promise<OpenSegment> {
    const descriptor = await files.open(path.join(root, name), createFlags);
    try {
      const { ino } = await files.facts(descriptor);
      if (flush) await syncFolder(files, root);
      return new OpenSegment(files, root, name, stream, descriptor, ino, flush);
    } catch (error) {
      await files.close(descriptor).catch(() => undefined);
      await files.unlink(path.join(root, name)).catch(() => undefined);
      throw error;
    }
  }

  /** Bytes that are durable. */
  get size(): number {
    return this.#durable;
  }

  /** False when the segment's name is gone or means another file: somebody moved it away, and nothing may follow there. */
  async isInPlace(): Promise<boolean> {
    try {
      return (await this.#files.linkFacts(path.join(this.#root, this.name))).ino === this.#inode;
    } catch (error) {
      if (errnoOf(error) === "ENOENT") return false;
      throw error;
    }
  }

  /** Writes whole batches and flushes them once; on an error none of them counts. */
  async append(batches: readonly Uint8Array[]): Promise<void> {
    await this.repair();
    this.#dirty = true;
    let end = this.#durable;
    for (const bytes of batches) {
      await writeFully(this.#files, this.#descriptor, bytes, end);
      end += bytes.length;
    }
    if (this.#flush) await this.#files.syncData(this.#descriptor);
    this.#durable = end;
    this.#dirty = false;
  }

  /** Cuts what a failed append may have left. */
  async repair(): Promise<void> {
    if (!this.#dirty) return;
    await this.#files.truncate(this.#descriptor, this.#durable);
    if (this.#flush) await this.#files.syncData(this.#descriptor);
    this.#dirty = false;
  }

  /** Ends the segment. Its records are durable already; a segment without any is removed. Rejects when the lock stays. */
  async close(): Promise<void> {
    let whole = true;
    try {
      await this.repair();
    } catch {
      // The lock stays, so that whoever starts next cuts the tail.
      whole = false;
    }
    await this.#files.close(this.#descriptor).catch(() => undefined);
    if (whole && this.#durable === 0 && (await this.isInPlace())) await this.#files.unlink(path.join(this.#root, this.name));
    if (!whole) throw Object.assign(new Error("the tail of a segment could not be cut"), { code: "EIO" });
    await removeLock(this.#files, this.#root, this.name, this.#flush);
  }
}
