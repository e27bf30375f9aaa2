import path from "node:path";
import type { Envelope, Telemetry, WriteContext, WriteOutcome } from "@sinks/core";
import { errnoOf, type FileSystem } from "./client.js";
import { gzipMember } from "./compress.js";
import { notAttempted, toFileError } from "./errors.js";
import { OpenSegment } from "./open-segment.js";
import type { FileOptions } from "./options.js";
import type { FilePlacer } from "./place-file.js";
import type { RecordWriter } from "./record-writer.js";
import { planSegmentBatch, type SegmentGroup } from "./segment-batch.js";
import { SegmentIndexes } from "./segment-indexes.js";
import { isLocked, placeLock, removeLock } from "./segment-lock.js";
import { SegmentLog } from "./segment-log.js";
import { isSegmentName, makeSegmentName } from "./segment-name.js";
import { readSegmentIndex } from "./segment-reader.js";
import { type RecoveredSegment, recoverSegments } from "./segment-recovery.js";
import type { Processes } from "./writer-identity.js";

/** What a writer of segments needs from its sink. */
export interface SegmentsParts {
  readonly files: FileSystem;
  readonly placer: FilePlacer;
  readonly processes: Processes;
  readonly root: string;
  readonly options: FileOptions;
  readonly telemetry: Telemetry;
  readonly nowNs: () => bigint;
  readonly after: (milliseconds: number, run: () => void) => () => void;
}

const recoveryPauseNs = 60_000_000_000n;

/** Writes records into NDJSON segments (FW-FILE-09): a batch is one append and one flush, a reader goes by key. */
export class Segments implements RecordWriter {
  readonly #parts: SegmentsParts;
  readonly #indexes = new SegmentIndexes();
  readonly #log: SegmentLog;
  /** Segments whose tail this process could not cut; their locks stay until it can. */
  readonly #givenUp = new Set<string>();
  #recoveredAtNs = 0n;

  constructor(parts: SegmentsParts) {
    this.#parts = parts;
    const { segment_max_bytes: maximumBytes, segment_max_age_seconds: maximumAge } = parts.options;
    this.#log = new SegmentLog({
      maximumBytes,
      maximumAgeMs: maximumAge * 1000,
      open: (stream, firstSequence) => this.#open(stream, firstSequence),
      close: (segment) => this.#close(segment),
      after: parts.after,
    });
  }

  async start(signal: AbortSignal): Promise<void> {
    const { files, root, options } = this.#parts;
    for (const { name, kept } of await this.#recover(signal)) {
      // Its last messages are the first to come again.
      if (kept) this.#indexes.keep(name, await readSegmentIndex(files, root, name, options.fsync, signal));
    }
  }

  async stop(): Promise<void> {
    await this.#log.close();
    await this.#parts.placer.tidy();
  }

  async write(messages: readonly Envelope[], context: WriteContext): Promise<readonly WriteOutcome[]> {
    if (context.signal.aborted) return messages.map(notAttempted);
    const { options, nowNs } = this.#parts;
    const plan = planSegmentBatch(messages, context, options, nowNs(), (key) => this.#indexes.has(key));
    await Promise.all(
      plan.groups.map(async (group) => {
        try {
          const segment = await this.#log.append({ ...group, bytes: this.#bytesOf(group) });
          this.#indexes.add(segment, group.keys);
        } catch (error) {
          const outcome = toFileError(error, "root");
          for (const index of group.indexes) plan.outcomes[index] = outcome;
        }
      }),
    );
    return plan.outcomes;
  }

  async #bytesOf(group: SegmentGroup): Promise<Uint8Array> {
    const { compression, compression_level: level } = this.#parts.options;
    return compression === "gzip" ? gzipMember(group.text, level) : group.text;
  }

  async lookup(messages: readonly Envelope[], signal: AbortSignal): Promise<readonly boolean[]> {
    const { files, root, options } = this.#parts;
    const keys = messages.map((message) => message.idempotencyKey());
    const missing = new Set(keys.filter((key) => !this.#indexes.has(key)));
    try {
      for await (const entry of files.list(root)) {
        if (missing.size === 0) break;
        if (!entry.isFile() || !isSegmentName(entry.name) || this.#indexes.knows(entry.name)) continue;
        const finished = !(await isLocked(files, root, entry.name));
        const index = await readSegmentIndex(files, root, entry.name, options.fsync, signal);
        if (finished) this.#indexes.keep(entry.name, index);
        for (const key of missing) if (index.has(key)) missing.delete(key);
      }
    } catch (error) {
      signal.throwIfAborted();
      throw toFileError(error, "root");
    }
    return keys.map((key) => !missing.has(key));
  }

  async #recover(signal: AbortSignal): Promise<readonly RecoveredSegment[]> {
    const { files, processes, root, options, telemetry } = this.#parts;
    this.#recoveredAtNs = this.#parts.nowNs();
    const nowMs = milliseconds(this.#recoveredAtNs);
    const recovered = await recoverSegments({ files, processes, root, flush: options.fsync, nowMs, givenUp: this.#givenUp }, signal);
    for (const { name, cutBytes } of recovered) {
      this.#givenUp.delete(name);
      telemetry.log("info", "segment recovered", { segment: name, cut_bytes: cutBytes });
    }
    return recovered;
  }

  /** Looks again for segments that were left behind: those of other machines are only known to be dead after some time. */
  async #recoverAgain(): Promise<void> {
    if (this.#parts.nowNs() - this.#recoveredAtNs < recoveryPauseNs) return;
    await this.#recover(new AbortController().signal).catch((error: unknown) => this.#warn("segment_not_recovered", null, error));
  }

  async #open(stream: string | null, firstSequence: bigint | null): Promise<OpenSegment> {
    const { files, processes, root, options } = this.#parts;
    await this.#recoverAgain();
    const lifetimeMs = options.segment_max_age_seconds * 1000;
    for (let openedNs = this.#parts.nowNs(); ; openedNs += 1n) {
      const name = makeSegmentName(stream, firstSequence, openedNs, options.compression === "gzip");
      const lock = { writer: processes.self, closesByMs: milliseconds(openedNs) + lifetimeMs };
      // A name that is taken belongs to another writer that began in the same nanosecond.
      if (!(await placeLock(files, root, name, lock, options.fsync))) continue;
      try {
        const segment = await OpenSegment.create(files, root, name, stream, options.fsync);
        this.#indexes.begin(name);
        return segment;
      } catch (error) {
        // A file that could not be removed keeps its lock: an empty segment nobody owns would stay for ever.
        if (await isAbsent(files, path.join(root, name))) await removeLock(files, root, name, false).catch(() => undefined);
        else this.#givenUp.add(name);
        throw error;
      }
    }
  }

  async #close(segment: OpenSegment): Promise<void> {
    try {
      await segment.close();
    } catch (error) {
      this.#givenUp.add(segment.name);
      this.#warn("segment_not_closed", segment.name, error);
    }
  }

  #warn(event: string, segment: string | null, error: unknown): void {
    const { message, destinationCode } = toFileError(error, "root");
    this.#parts.telemetry.log("warn", event, { segment, reason: message, code: destinationCode });
  }
}

function milliseconds(nanoseconds: bigint): number {
  return Number(nanoseconds / 1_000_000n);
}

/** True when there is surely nothing at this path. */
async function isAbsent(files: FileSystem, place: string): Promise<boolean> {
  try {
    await files.linkFacts(place);
    return false;
  } catch (error) {
    return errnoOf(error) === "ENOENT";
  }
}
