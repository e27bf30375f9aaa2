import path from "node:path";
import { type Envelope, isErrorKind, type WriteContext, type WriteOutcome } from "@sinks/core";
import type { FileSystem } from "./client.js";
import { gzipMember } from "./compress.js";
import { SubjectFolders } from "./confinement.js";
import { syncFolders } from "./directory-sync.js";
import { filenameConflict, notAttempted, toFileError } from "./errors.js";
import { holdsKey, holdsSame, readExisting } from "./existing-file.js";
import { fileExtension, fileName, subjectFolder } from "./file-name.js";
import { inParallel } from "./in-parallel.js";
import { indentJson } from "./indent-json.js";
import { LaneTurns, type Turn } from "./lane-turns.js";
import { MessageBatch } from "./message-batch.js";
import type { FileOptions } from "./options.js";
import type { FilePlacer } from "./place-file.js";
import { recordText } from "./record.js";
import type { RecordWriter } from "./record-writer.js";

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

/** Where one message goes and what its file holds. */
interface Plan {
  readonly message: Envelope;
  /** Name of the subject's folder, null for the root. */
  readonly folder: string | null;
  /** File names to try, in order. */
  readonly names: readonly string[];
  readonly sha256: string | null;
  readonly text: string;
}

/**
 * Writes one file per message. Every message of a batch runs the same course on its own: plan, temporary, its turn, visible;
 * then all touched folders are flushed together, and only then anything counts as stored.
 */
export class MessageFiles implements RecordWriter {
  readonly #parts: MessageFilesParts;
  readonly #folders: SubjectFolders;
  readonly #extension: string;

  constructor(parts: MessageFilesParts) {
    this.#parts = parts;
    this.#folders = new SubjectFolders(parts.files, parts.root);
    this.#extension = fileExtension(parts.options);
  }

  /** Nothing to prepare: folders are made as messages ask for them. */
  start(): Promise<void> {
    return Promise.resolve();
  }

  async stop(): Promise<void> {
    await this.#parts.placer.tidy();
  }

  async write(messages: readonly Envelope[], context: WriteContext): Promise<readonly WriteOutcome[]> {
    const batch = new MessageBatch(messages.length);
    const turns = new LaneTurns(context);
    const storedAtNs = this.#parts.nowNs();
    await inParallel(messages.length, concurrency, async (index) => {
      batch.outcomes[index] = await this.#writeOne(messages[index] as Envelope, index, batch, turns, context, storedAtNs);
    });
    if (this.#parts.options.fsync) await this.#flushFolders(batch);
    await inParallel(batch.temporaries.length, concurrency, (index) => this.#parts.placer.discard(batch.temporaries[index] as string));
    await this.#parts.placer.tidy();
    return batch.outcomes;
  }

  /** Must run up to its turn without waiting: turns are taken in the order of the batch. */
  async #writeOne(
    message: Envelope,
    index: number,
    batch: MessageBatch,
    turns: LaneTurns,
    context: WriteContext,
    storedAtNs: bigint,
  ): Promise<WriteOutcome> {
    let plan: Plan | null = null;
    let outcome: WriteOutcome = null;
    try {
      plan = this.#plan(message, storedAtNs);
    } catch (error) {
      outcome = toFileError(error, "message");
    }
    const turn = turns.take(index, plan === null ? null : path.join(plan.folder ?? "", plan.names[0] as string));
    try {
      outcome = plan === null ? await this.#refuse(turn, outcome) : await this.#place(plan, index, batch, turn, context);
    } catch (error) {
      await turn.ready;
      outcome = turn.mayGo() ? toFileError(error, "message") : notAttempted();
    }
    turn.end(outcome);
    return outcome;
  }

  /** A message that cannot be planned waits for its turn all the same: the lane may have stopped before it. */
  async #refuse(turn: Turn, outcome: WriteOutcome): Promise<WriteOutcome> {
    await turn.ready;
    return turn.mayGo() ? outcome : notAttempted();
  }

  #plan(message: Envelope, storedAtNs: bigint): Plan {
    const { options } = this.#parts;
    const text = recordText(message, options, storedAtNs);
    return { ...this.#placeOf(message), message, text };
  }

  #placeOf(message: Envelope): Pick<Plan, "folder" | "names" | "sha256"> {
    const { options } = this.#parts;
    const { sha256 } = message.payloadForJsonStorage(options.payload_mode);
    const { name, spare } = fileName(message, options.filename_strategy, sha256);
    const names = spare === null ? [name + this.#extension] : [name + this.#extension, spare + this.#extension];
    return { folder: options.partition_by_subject ? subjectFolder(message.subject) : null, names, sha256 };
  }

  async #place(plan: Plan, index: number, batch: MessageBatch, turn: Turn, context: WriteContext): Promise<WriteOutcome> {
    const { placer } = this.#parts;
    if (context.signal.aborted) return notAttempted();
    const folder = await batch.folder(plan.folder, (name) =>
      name === null ? Promise.resolve(this.#parts.root) : this.#folders.ensure(name),
    );
    const temporary = await placer.prepare(folder, await this.#body(plan.text));
    let kept = false;
    try {
      await turn.ready;
      if (!turn.mayGo() || context.signal.aborted) return notAttempted();
      const outcome = await this.#reveal(plan, folder, temporary);
      if (outcome === null) batch.touch(folder, index);
      kept = outcome === null;
      return outcome;
    } finally {
      // A visible file's temporary is removed after the folder was flushed.
      if (kept) batch.temporaries.push(temporary);
      else await placer.discard(temporary);
    }
  }

  async #body(text: string): Promise<Buffer> {
    const { pretty, compression, compression_level: level } = this.#parts.options;
    const bytes = Buffer.from(`${pretty ? indentJson(text) : text}\n`, "utf8");
    return compression === "gzip" ? gzipMember(bytes, level) : bytes;
  }

  /** Makes the temporary visible, or finds out what stands in its place (FW-FILE-05). */
  async #reveal(plan: Plan, folder: string, temporary: string): Promise<WriteOutcome> {
    const { files, placer, options } = this.#parts;
    const overwrite = options.duplicate_policy === "overwrite";
    for (const name of plan.names) {
      const target = path.join(folder, name);
      if (overwrite && plan.names.length === 1) {
        await placer.replace(temporary, target);
        return null;
      }
      // Once more when the file was removed between the two looks.
      for (let look = 0; look < 2; look += 1) {
        if (await placer.link(temporary, target)) return null;
        const existing = await readExisting(files, target, options.fsync && !overwrite);
        if (existing === null) continue;
        if (overwrite && holdsKey(existing.identity, plan.message)) {
          await placer.replace(temporary, target);
          return null;
        }
        if (holdsSame(existing.identity, plan.message, plan.sha256, options)) return null;
        break;
      }
    }
    return filenameConflict(plan.message);
  }

  /** One flush for each touched folder, and one of the root for folders that are new to this process (FW-FILE-02, FW-FILE-03). */
  async #flushFolders(batch: MessageBatch): Promise<void> {
    const { files, root } = this.#parts;
    const fresh = [...batch.touched.keys()].filter((folder) => this.#folders.needsParent(folder));
    const folders = new Set(batch.touched.keys());
    if (fresh.length > 0) folders.add(root);
    const failures = await syncFolders(files, folders, concurrency);
    if (!failures.has(root)) for (const folder of fresh) this.#folders.parentFlushed(folder);
    for (const [folder, indexes] of batch.touched) {
      const failure = failures.get(folder) ?? (fresh.includes(folder) ? failures.get(root) : undefined);
      if (failure !== undefined) for (const index of indexes) batch.outcomes[index] = toFileError(failure, "message");
    }
  }

  async lookup(messages: readonly Envelope[], signal: AbortSignal): Promise<readonly boolean[]> {
    const { files, options } = this.#parts;
    const folders = new Set<string>();
    const found = messages.map(() => false);
    try {
      await inParallel(messages.length, concurrency, async (index) => {
        signal.throwIfAborted();
        const folder = await this.#folderOfStored(messages[index] as Envelope);
        if (folder === null) return;
        found[index] = true;
        folders.add(folder);
        if (this.#folders.needsParent(folder)) folders.add(this.#parts.root);
      });
      if (options.fsync) for (const error of (await syncFolders(files, folders, concurrency)).values()) throw error;
    } catch (error) {
      throw toFileError(error, "message");
    }
    return found;
  }

  /** The folder in which the message's record lies; null when it is not stored, or never can be. */
  async #folderOfStored(message: Envelope): Promise<string | null> {
    const { files, options, root } = this.#parts;
    try {
      const place = this.#placeOf(message);
      if (place.folder !== null && !(await this.#folders.isThere(place.folder))) return null;
      const folder = path.join(root, place.folder ?? "");
      for (const name of place.names) {
        const existing = await readExisting(files, path.join(folder, name), options.fsync);
        if (existing !== null && holdsSame(existing.identity, message, place.sha256, options)) return folder;
      }
      return null;
    } catch (error) {
      if (isErrorKind(toFileError(error, "message"), "PermanentSinkError")) return null;
      throw error;
    }
  }
}
