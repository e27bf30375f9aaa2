import type { PlannedRun, PlannedWrite, SinkError } from "@sinks/core";
import type { ProbedMessage, ProbeReport } from "@sinks/core/runtime";

/** Why something would be rejected. */
export interface ProbeProblem {
  readonly code: string;
  readonly message: string;
}

/** One write of a message (WO-OB-01, WO-OB-02). */
export interface ProbedWriteLine {
  readonly destination: string | null;
  readonly extras: Readonly<Record<string, unknown>>;
  readonly rendered: string | null;
  readonly value_count: number;
  readonly values: readonly (string | null)[] | null;
  /** Place in `runs`, and in the chunks of that run. */
  readonly run: number | null;
  readonly chunk: number | null;
  readonly problem: ProbeProblem | null;
}

/** One message with what would become of it. */
export interface ProbedMessageLine {
  readonly subject: string;
  readonly stream_sequence: bigint | null;
  readonly delivered: boolean;
  readonly problem: ProbeProblem | null;
  readonly writes: readonly ProbedWriteLine[];
}

/** The result of `sinks probe` as JSON has it. */
export interface ProbeDocument {
  readonly messages: readonly ProbedMessageLine[];
  readonly runs: readonly PlannedRun[];
  readonly retry_safety: ProbeReport["retrySafety"];
  readonly notes: readonly string[];
}

/** The stable shape of a report. */
export function probeDocument({ messages, runs, retrySafety, notes }: ProbeReport): ProbeDocument {
  const outside = messages.filter(({ delivered }) => !delivered).length;
  const note = `${outside === 1 ? "a message is" : `${outside} messages are`} outside the consumer's filters and would not be delivered`;
  return { messages: messages.map(messageLine), runs, retry_safety: retrySafety, notes: outside > 0 ? [note, ...notes] : notes };
}

function messageLine({ message, delivered, error, writes }: ProbedMessage): ProbedMessageLine {
  return {
    subject: message.subject,
    stream_sequence: message.streamSequence,
    delivered,
    problem: problemOf(error),
    writes: writes.map(writeLine),
  };
}

function writeLine({ destination, extras, rendered, valueCount, values, place, error }: PlannedWrite): ProbedWriteLine {
  return {
    destination,
    extras,
    rendered,
    value_count: valueCount,
    values,
    run: place?.run ?? null,
    chunk: place?.chunk ?? null,
    problem: problemOf(error),
  };
}

function problemOf(error: SinkError | null): ProbeProblem | null {
  return error === null ? null : { code: error.code, message: error.message };
}
