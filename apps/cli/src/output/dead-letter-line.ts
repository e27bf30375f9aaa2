import type { DeadLetterEntry } from "@sinks/core/runtime";

/** A dead letter in its stable JSON shape (FW-CLI-11). */
export interface DeadLetterLine {
  /** Sequence in the dead-letter stream; what `dlq show` takes. */
  readonly sequence: number;
  readonly stream: string | null;
  readonly stream_sequence: number | bigint | null;
  readonly subject: string | null;
  readonly error_code: string | null;
  readonly error_type: string | null;
  readonly sink: string | null;
  readonly time: string;
  readonly done: boolean;
}

/** The document of one dead letter. */
export function deadLetterLine(entry: Omit<DeadLetterEntry, "payload" | "record">, done: boolean): DeadLetterLine {
  return {
    sequence: entry.sequence,
    stream: entry.stream,
    stream_sequence: entry.streamSequence,
    subject: entry.subject,
    error_code: entry.errorCode,
    error_type: entry.errorType,
    sink: entry.sink,
    time: entry.time,
    done,
  };
}
