import path from "node:path";
import { TemporarySinkError, type WriteOutcome } from "@sinks/core";
import type { FileSystem } from "./client.js";
import { filenameConflict } from "./errors.js";
import { holdsKey, holdsSame, readExisting } from "./existing-file.js";
import { fileExtension } from "./file-name.js";
import type { MessagePlace } from "./message-plan.js";
import type { FileOptions } from "./options.js";
import type { FilePlacer } from "./place-file.js";

/** Gives a complete temporary its name, and judges what has that name already (FW-FILE-05). */
export class FileRevealer {
  readonly #files: FileSystem;
  readonly #placer: FilePlacer;
  readonly #options: FileOptions;
  readonly #extension: string;

  constructor(files: FileSystem, placer: FilePlacer, options: FileOptions) {
    this.#files = files;
    this.#placer = placer;
    this.#options = options;
    this.#extension = fileExtension(options);
  }

  /** Makes the temporary visible; null when the message's record is in place, by this or an earlier write. */
  async reveal(place: MessagePlace, folder: string, temporary: string): Promise<WriteOutcome> {
    const { name, spare } = place.name;
    if (spare === null && this.#options.duplicate_policy === "overwrite") {
      await this.#placer.replace(temporary, this.#pathOf(folder, name));
      return null;
    }
    if (await this.#revealAs(place, this.#pathOf(folder, name), temporary)) return null;
    if (spare !== null && (await this.#revealAs(place, this.#pathOf(folder, spare()), temporary))) return null;
    return filenameConflict(place.message);
  }

  /** True when the message's record is in the folder. */
  async isStored(place: MessagePlace, folder: string): Promise<boolean> {
    const { name, spare } = place.name;
    return (
      (await this.#holds(place, this.#pathOf(folder, name))) ||
      (spare !== null && (await this.#holds(place, this.#pathOf(folder, spare()))))
    );
  }

  async #holds(place: MessagePlace, target: string): Promise<boolean> {
    const existing = await readExisting(this.#files, target, this.#options.fsync);
    return existing !== null && holdsSame(existing.identity, place.message, place.sha256, this.#options);
  }

  /** True when `target` is the message's file now, or was already; false when another message is there. */
  async #revealAs(place: MessagePlace, target: string, temporary: string): Promise<boolean> {
    const { duplicate_policy: policy, fsync } = this.#options;
    // Once more when the file was removed between the two looks.
    for (let look = 0; look < 2; look += 1) {
      if (await this.#placer.link(temporary, target)) return true;
      const existing = await readExisting(this.#files, target, fsync && policy !== "overwrite");
      if (existing === null) continue;
      if (policy !== "overwrite") return holdsSame(existing.identity, place.message, place.sha256, this.#options);
      if (!holdsKey(existing.identity, place.message)) return false;
      await this.#placer.replace(temporary, target);
      return true;
    }
    throw new TemporarySinkError("a file that was in the way came and went");
  }

  #pathOf(folder: string, name: string): string {
    return `${folder}${path.sep}${name}${this.#extension}`;
  }
}
