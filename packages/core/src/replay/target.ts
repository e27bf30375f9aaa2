import type { Configuration } from "../config/schema.js";
import { hasLookup } from "../connector/abilities.js";
import type { Sink } from "../connector/sink.js";
import type { DeadLetterEntry } from "../dead-letter/entry.js";
import type { Envelope } from "../envelope/envelope.js";
import { stopLimit, stopQuietly } from "../runner/sink-life.js";
import { type StartInput, startSink } from "../runner/start.js";
import { writeBatch } from "../runner/writer.js";
import type { ReplayStore } from "../source/replay-store.js";
import type { Telemetry } from "../telemetry/port.js";
import { republish } from "./publish.js";
import { type ReplayMessage, replayEnvelope } from "./source.js";

/** What became of a message that was put back; `already_*`: an earlier replay, or the pipeline itself, had done it. */
export type PutResult = "written" | "already_stored" | "published" | "already_published";

/** Where messages are put back. */
export interface ReplayTarget {
  /** False until a message could be taken: what fails before is the fault of no message. */
  readonly ready: boolean;
  /** Resolves when the message is durable there; rejects with the error that says why it is not. */
  put(entry: DeadLetterEntry, message: ReplayMessage): Promise<PutResult>;
  stop(): Promise<void>;
}

/** The subjects that the messages came from. */
export function publishTarget(store: Pick<ReplayStore, "publish">): ReplayTarget {
  return {
    ready: true,
    put: async (entry, message) => ((await republish(store, entry, message)) ? "published" : "already_published"),
    stop: async () => undefined,
  };
}

/** What writing to the sink needs. */
export interface SinkTargetInput extends StartInput {
  readonly createSink: () => Sink;
  readonly sinkName: string;
}

/** The sink of the configuration; started at the first message, so that a replay with nothing to do touches nothing. */
export function sinkTarget(input: SinkTargetInput): ReplayTarget {
  let sink: Sink | null = null;
  return {
    get ready() {
      return sink !== null;
    },
    async put(entry, message) {
      sink ??= await startSink(input, input.createSink, input.sinkName);
      return write(sink, replayEnvelope(entry, message, input.configuration), input.configuration, input.telemetry);
    },
    async stop() {
      if (sink !== null) await stopQuietly(sink, input.telemetry, stopLimit(input.configuration));
    },
  };
}

async function write(sink: Sink, envelope: Envelope, { delivery }: Configuration, telemetry: Telemetry): Promise<PutResult> {
  const signal = AbortSignal.timeout(delivery.in_progress.max_lease_ms);
  if (hasLookup(sink) && (await sink.lookup([envelope], signal))[0] === true) return "already_stored";
  const context = { signal, ordered: false, lanes: null, onPoison: delivery.on_poison };
  const result = await writeBatch(sink, [envelope], context, telemetry);
  if (result.kind === "stored") return "written";
  const failure = result.kind === "outcomes" ? (result.outcomes[0] ?? null) : result.error;
  if (failure !== null) throw failure;
  return "written";
}
