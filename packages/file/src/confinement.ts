import path from "node:path";
import { errnoOf, type FileSystem } from "./client.js";
import { invalidPath } from "./errors.js";

/**
 * The folders below the root that message files go to (FW-FILE-06): one level, real folders, never links. It knows which of
 * them the root still has to be flushed for (FW-FILE-03).
 */
export class SubjectFolders {
  readonly #files: FileSystem;
  readonly #root: string;
  /** Folders whose entry in the root is flushed; bounded, because forgetting one costs a flush and nothing else. */
  readonly #flushed = new Set<string>();

  constructor(files: FileSystem, root: string) {
    this.#files = files;
    this.#root = root;
  }

  /** Makes sure that `name` is a real folder below the root, and gives its path. A name comes from `subjectFolder`. */
  async ensure(name: string): Promise<string> {
    const folder = path.join(this.#root, name);
    const found = await this.#factsOf(folder);
    if (found === null) await this.#make(folder);
    else if (!found.isDirectory()) throw invalidPath(found.isSymbolicLink() ? "ELOOP" : "ENOTDIR");
    return folder;
  }

  /** True when `name` is a real folder below the root. */
  async isThere(name: string): Promise<boolean> {
    return (await this.#factsOf(path.join(this.#root, name)))?.isDirectory() ?? false;
  }

  async #factsOf(folder: string) {
    try {
      return await this.#files.linkFacts(folder);
    } catch (error) {
      if (errnoOf(error) === "ENOENT") return null;
      throw error;
    }
  }

  async #make(folder: string): Promise<void> {
    // A folder that was removed and is made again has a new entry in the root.
    this.#flushed.delete(folder);
    try {
      await this.#files.makeFolder(folder);
    } catch (error) {
      if (errnoOf(error) !== "EEXIST") throw error;
      // Somebody was faster; what it made must be a folder all the same.
      const found = await this.#files.linkFacts(folder);
      if (!found.isDirectory()) throw invalidPath(found.isSymbolicLink() ? "ELOOP" : "ENOTDIR");
    }
  }

  /**
   * True when the root must be flushed before files in `folder` count: it is new to this process, which cannot know whether
   * the one that made it came to flush it.
   */
  needsParent(folder: string): boolean {
    return folder !== this.#root && !this.#flushed.has(folder);
  }

  /** Notes that the root was flushed with this folder in it. */
  parentFlushed(folder: string): void {
    if (this.#flushed.size >= 100_000) this.#flushed.clear();
    this.#flushed.add(folder);
  }
}
