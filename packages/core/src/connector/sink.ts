import type { Envelope } from "../envelope/envelope.js";
import type { SinkError } from "../error/errors.js";
import type { Telemetry } from "../telemetry/port.js";

/** What became of one message: `null` means it is durable. */
export type WriteOutcome = SinkError | null;

/** What a sink receives at start. */
export interface SinkContext {
  /** The configured name of this sink; its type where it has none. */
  readonly name: string;
  /** What tells this pipeline from every other one: its configured name, else `<stream>/<consumer>/<sink>` (FW-LED-01). */
  readonly pipeline: string;
  readonly telemetry: Telemetry;
  /** Aborted when start is given up. */
  readonly signal: AbortSignal;
}

/** What a sink receives with each batch. */
export interface WriteContext {
  /** Aborted at the deadline of the write or of the shutdown; the promise of an abort: duplicates may follow, loss may not. */
  readonly signal: AbortSignal;
  /** True when messages of one lane stand in the batch in their order and must be applied in it (FW-RUN-35). */
  readonly ordered: boolean;
  /** With `ordered`: lane of the message at this index; equal numbers are one lane. */
  readonly lanes: readonly number[] | null;
  /** With `ordered`: what a permanent failure does to later messages of its lane (FW-RUN-36). */
  readonly onPoison: "dead_letter_and_continue" | "park_key" | "stop";
}

/**
 * Writes batches durably (FW-ERR-02, FW-REG-07). `writeBatch` resolving with nothing says that every message is durable;
 * resolving with an array says so message by message, in order. A throw counts for the whole batch, by error class.
 * A sink never retries for ever and never logs a payload or a statement's text.
 */
export interface Sink {
  start(context: SinkContext): Promise<void>;
  writeBatch(messages: readonly Envelope[], context: WriteContext): Promise<void | readonly WriteOutcome[]>;
  stop(): Promise<void>;
}
