import path from "node:path";
import { type Envelope, isErrorKind, type WriteContext, type WriteOutcome } from "@sinks/core";
import type { FileSystem } from "./client.js";
import { SubjectFolders } from "./confinement.js";
import { syncFolders } from "./directory-sync.js";
import { notAttempted, toFileError } from "./errors.js";
import { inParallel } from "./in-parallel.js";
import { LaneTurns, type Turn } from "./lane-turns.js";
import { MessageBatch } from "./message-batch.js";
import { fileBytes, type MessagePlace, placeOf } from "./message-plan.js";
import type { FileOptions } from "./options.js";
import type { FilePlacer } from "./place-file.js";
import { recordText } from "./record.js";
import type { RecordWriter } from "./record-writer.js";
import { FileRevealer } from "./reveal-file.js";

/** Files of a batch in work at the same time (FW-FILE-02); libuv runs four of their calls at once, the rest fill its queue. */
const concurrency = 32;

/** What a writer of message files needs from its sink. */
export interface MessageFilesParts {
  readonly files: FileSystem;
  readonly placer: FilePlacer;
  readonly root: string;
  readonly options: FileOptions;
  readonly nowNs: () => bigint;
}

/** What the messages of one call have in common. */
interface Course {
  readonly batch: MessageBatch;
  readonly turns: LaneTurns;
  readonly signal: AbortSignal;
  readonly storedAtNs: bigint;
}

/**
 * Writes one file per message. Every message of a batch runs the same course on its own: plan, temporary, its turn, visible;
 * then all touched folders are flushed together, and only then anything counts as stored.
 */
export class MessageFiles implements RecordWriter {
  readonly #parts: MessageFilesParts;
  readonly #folders: SubjectFolders;
  readonly #revealer: FileRevealer;

  constructor(parts: MessageFilesParts) {
    this.#parts = parts;
    this.#folders = new SubjectFolders(parts.files, parts.root);
    this.#revealer = new FileRevealer(parts.files, parts.placer, parts.options);
  }

  /** Nothing to prepare: folders are made as messages ask for them. */
  start(): Promise<void> {
    return Promise.resolve();
  }

  async stop(): Promise<void> {
    await this.#parts.placer.tidy();
  }

  async write(messages: readonly Envelope[], context: WriteContext): Promise<readonly WriteOutcome[]> {
    const { placer, options, nowNs } = this.#parts;
    const batch = new MessageBatch(messages.length);
    const course = { batch, turns: new LaneTurns(context), signal: context.signal, storedAtNs: nowNs() };
    await inParallel(messages.length, concurrency, async (index) => {
      batch.outcomes[index] = await this.#writeOne(messages[index] as Envelope, index, course);
    });
    if (options.fsync) await this.#flushFolders(batch);
    await inParallel(batch.temporaries.length, concurrency, (index) => placer.discard(batch.temporaries[index] as string));
    await placer.tidy();
    return batch.outcomes;
  }

  /** Must run up to its turn without waiting: turns are taken in the order of the batch. */
  async #writeOne(message: Envelope, index: number, course: Course): Promise<WriteOutcome> {
    let text = "";
    let place: MessagePlace | null = null;
    let outcome: WriteOutcome = null;
    try {
      text = recordText(message, this.#parts.options, course.storedAtNs);
      place = placeOf(message, this.#parts.options);
    } catch (error) {
      outcome = toFileError(error, "message");
    }
    const turn = course.turns.take(index, place === null ? null : `${place.folder ?? ""}${path.sep}${place.name.name}`);
    try {
      if (place !== null) outcome = await this.#write(place, text, index, turn, course);
    } catch (error) {
      outcome = toFileError(error, "message");
    }
    // Also a message that failed before its turn waits for it: the lane may have stopped earlier.
    await turn.ready;
    if (!turn.mayGo()) outcome = notAttempted();
    turn.end(outcome);
    return outcome;
  }

  async #write(place: MessagePlace, text: string, index: number, turn: Turn, { batch, signal }: Course): Promise<WriteOutcome> {
    const { placer, options } = this.#parts;
    if (signal.aborted) return notAttempted();
    const folder = await batch.folder(place.folder, (name) => this.#folderOf(name));
    const temporary = await placer.prepare(folder, await fileBytes(text, options));
    let kept = false;
    try {
      await turn.ready;
      if (!turn.mayGo() || signal.aborted) return notAttempted();
      const outcome = await this.#revealer.reveal(place, folder, temporary);
      if (outcome === null) batch.touch(folder, index);
      kept = outcome === null;
      return outcome;
    } finally {
      // A visible file's temporary is removed after the folder was flushed.
      if (kept) batch.temporaries.push(temporary);
      else await placer.discard(temporary);
    }
  }

  #folderOf(name: string | null): Promise<string> {
    return name === null ? Promise.resolve(this.#parts.root) : this.#folders.ensure(name);
  }

  /** One flush for each touched folder, and one of the root for folders that are new to this process (FW-FILE-02, FW-FILE-03). */
  async #flushFolders(batch: MessageBatch): Promise<void> {
    const { files, root } = this.#parts;
    const fresh = new Set([...batch.touched.keys()].filter((folder) => this.#folders.needsParent(folder)));
    const folders = new Set(batch.touched.keys());
    if (fresh.size > 0) folders.add(root);
    const failures = await syncFolders(files, folders, concurrency);
    const rootFailure = failures.get(root);
    if (rootFailure === undefined) for (const folder of fresh) this.#folders.parentFlushed(folder);
    for (const [folder, indexes] of batch.touched) {
      const needsRoot = folder === root || fresh.has(folder);
      if (needsRoot && rootFailure !== undefined) batch.fail(indexes, toFileError(rootFailure, "root"));
      else if (failures.has(folder)) batch.fail(indexes, toFileError(failures.get(folder), "message"));
    }
  }

  async lookup(messages: readonly Envelope[], signal: AbortSignal): Promise<readonly boolean[]> {
    const { files, options, root } = this.#parts;
    const folders = new Set<string>();
    const found = messages.map(() => false);
    try {
      await inParallel(messages.length, concurrency, async (index) => {
        signal.throwIfAborted();
        const folder = await this.#folderOfStored(messages[index] as Envelope);
        if (folder === null) return;
        found[index] = true;
        folders.add(folder);
        if (this.#folders.needsParent(folder)) folders.add(root);
      });
      if (options.fsync) for (const error of (await syncFolders(files, folders, concurrency)).values()) throw error;
    } catch (error) {
      throw toFileError(error, "message");
    }
    return found;
  }

  /** The folder in which the message's record lies; null when it is not stored, or never can be. */
  async #folderOfStored(message: Envelope): Promise<string | null> {
    try {
      const place = placeOf(message, this.#parts.options);
      if (place.folder !== null && !(await this.#folders.isThere(place.folder))) return null;
      const folder = place.folder === null ? this.#parts.root : path.join(this.#parts.root, place.folder);
      return (await this.#revealer.isStored(place, folder)) ? folder : null;
    } catch (error) {
      if (isErrorKind(toFileError(error, "message"), "PermanentSinkError")) return null;
      throw error;
    }
  }
}
