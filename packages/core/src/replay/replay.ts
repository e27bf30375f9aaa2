import { resolveSecrets } from "../config/resolve-secrets.js";
import type { Configuration } from "../config/schema.js";
import type { Sink } from "../connector/sink.js";
import { checkDoneSubject, type DoneMarkers, markDone, readDoneMarkers } from "../dead-letter/done-markers.js";
import { type DeadLetterEntry, decodeDeadLetter, doneSubject } from "../dead-letter/entry.js";
import { joinChunks } from "../dead-letter/join.js";
import { foldDeadLetters } from "../dead-letter/list.js";
import { type ErrorKind, isErrorKind, type SinksError } from "../error/errors.js";
import { toSinkError } from "../error/to-sink-error.js";
import { systemClock } from "../runner/clock.js";
import { openReplayStore, type ReplayStore } from "../source/replay-store.js";
import type { Telemetry } from "../telemetry/port.js";
import { meets, type ReplaySelection } from "./selection.js";
import { replayMessage } from "./source.js";
import { type PutResult, publishTarget, type ReplayTarget, sinkTarget } from "./target.js";

/** What a replay is asked for. */
export interface ReplayRequest {
  readonly configuration: Configuration;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly selection: ReplaySelection;
  /** `write`: into the sink, under the original key. `publish`: to the original subject, as a new message. */
  readonly mode: "write" | "publish";
  /** True to say what would be done, and do nothing. */
  readonly dryRun: boolean;
  /** Called for the first message that is written. */
  readonly createSink: () => Sink;
  readonly telemetry: Telemetry;
  readonly signal: AbortSignal;
}

/** What became of one dead letter. */
export type ReplayResult = PutResult | "already_done" | "would_write" | "would_publish" | "unavailable" | "not_found" | "failed";

/** What a replay says of one dead letter. */
export interface ReplayReport {
  readonly sequence: number;
  /** Null with `not_found`. */
  readonly entry: Omit<DeadLetterEntry, "payload"> | null;
  readonly result: ReplayResult;
  /** With `failed`: why. */
  readonly error: SinksError | null;
  /** True when nothing further was tried, because it would have failed in the same way. */
  readonly ends: boolean;
}

/** Failures that the next message would meet as well. */
const lasting = [
  "ConfigurationError",
  "CredentialsError",
  "DestinationUnavailableError",
  "SinkContractError",
  "DeadLetterError",
] as const satisfies readonly ErrorKind[];

/**
 * Puts dead letters back, one after the other, and marks each one done (FW-DLQ-10). What is marked already is left alone, so
 * a replay may be repeated at any time. Rejects with `ConfigurationError` when dead letters are off, no stream takes them or
 * their markers, or the sink cannot be started as configured, and with the sink's error when it cannot be started at all.
 */
export async function* replayDeadLetters(request: ReplayRequest): AsyncGenerator<ReplayReport> {
  const configuration = resolveSecrets(request.configuration, request.environment);
  await using store = await openReplayStore(configuration);
  const { environment, telemetry, signal, createSink, mode } = request;
  const start = { configuration, environment, telemetry, signal, clock: systemClock, createSink, sinkName: configuration.sink.type };
  const target = mode === "publish" ? publishTarget(store) : sinkTarget(start);
  try {
    yield* replayFrom(store, target, { ...request, configuration });
  } finally {
    await target.stop();
  }
}

/** The same over a store that is open and a target that the caller stops. */
export async function* replayFrom(store: ReplayStore, target: ReplayTarget, request: ReplayRequest): AsyncGenerator<ReplayReport> {
  await checkDoneSubject(store);
  const done = await readDoneMarkers((sequence) => store.next(doneSubject(store.subject), sequence));
  const replay = new Replay(store, target, request, done);
  for await (const candidate of candidates(store, request)) {
    if (request.signal.aborted) return;
    const report = await replay.one(candidate);
    yield report;
    if (report.ends) return;
  }
}

interface Candidate {
  readonly sequence: number;
  readonly entry: DeadLetterEntry | null;
}

/** Named entries, or those of this pipeline that were there when the replay began: a message put back may fail again. */
async function* candidates(store: ReplayStore, { selection, configuration }: ReplayRequest): AsyncGenerator<Candidate> {
  if ("sequences" in selection) {
    for (const sequence of new Set(selection.sequences)) {
      const stored = await store.read(sequence);
      yield { sequence, entry: stored === null || stored.subject !== store.subject ? null : decodeDeadLetter(stored) };
    }
    return;
  }
  const { stream, consumer } = configuration.nats;
  const conditions = { stream, consumer, sink: configuration.sink.type, ...selection.where };
  const last = await store.lastSequence();
  for await (const entry of foldDeadLetters((sequence) => store.next(store.subject, sequence))) {
    if (entry.sequence > last) return;
    if (meets(entry, conditions)) yield { sequence: entry.sequence, entry };
  }
}

class Replay {
  readonly #store: ReplayStore;
  readonly #target: ReplayTarget;
  readonly #request: ReplayRequest;
  readonly #marked: DoneMarkers;
  /** Marked by this replay. */
  readonly #done = new Set<string>();

  constructor(store: ReplayStore, target: ReplayTarget, request: ReplayRequest, marked: DoneMarkers) {
    this.#store = store;
    this.#target = target;
    this.#request = request;
    this.#marked = marked;
  }

  async one({ sequence, entry }: Candidate): Promise<ReplayReport> {
    const report = (result: ReplayResult, error: SinksError | null = null): ReplayReport => ({
      sequence,
      entry: entry === null ? null : withoutPayload(entry),
      result,
      error,
      ends: lasting.some((kind) => isErrorKind(error, kind)),
    });
    if (entry === null) return report("not_found");
    if (this.#marked.has(entry) || this.#done.has(entry.identity)) return report("already_done");
    try {
      return report(await this.#replay(entry));
    } catch (error) {
      if (!this.#target.ready) throw error;
      return report("failed", isErrorKind(error, "SinksError") ? error : toSinkError(error));
    }
  }

  async #replay(entry: DeadLetterEntry): Promise<ReplayResult> {
    const { dryRun, mode } = this.#request;
    const whole = entry.chunk === null ? entry : await joinChunks((from) => this.#store.next(this.#store.subject, from), entry);
    const message = await replayMessage(this.#store, whole);
    if (message === null) return "unavailable";
    if (dryRun) return mode === "publish" ? "would_publish" : "would_write";
    const result = await this.#target.put(whole, message);
    await markDone(this.#store, entry, result);
    this.#done.add(entry.identity);
    return result;
  }
}

function withoutPayload({ payload: _payload, ...entry }: DeadLetterEntry): Omit<DeadLetterEntry, "payload"> {
  return entry;
}
