import type { Envelope, WriteContext, WriteOutcome } from "@sinks/core";

/** One way of storing records: a file each, or segments. The sink picks one by its mode. */
export interface RecordWriter {
  start(signal: AbortSignal): Promise<void>;
  /** One outcome per message, in order. */
  write(messages: readonly Envelope[], context: WriteContext): Promise<readonly WriteOutcome[]>;
  /** One flag per message, in order: true when its record is durable already. */
  lookup(messages: readonly Envelope[], signal: AbortSignal): Promise<readonly boolean[]>;
  stop(): Promise<void>;
}
