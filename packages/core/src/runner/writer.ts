import { hasRetrySafety } from "../connector/abilities.js";
import type { Sink, WriteContext, WriteOutcome } from "../connector/sink.js";
import type { Envelope } from "../envelope/envelope.js";
import { NotAttemptedError, SinkContractError, type SinksError, isErrorKind, isSinkError } from "../error/errors.js";
import { toSinkError } from "../error/to-sink-error.js";
import type { Telemetry } from "../telemetry/port.js";

/** What a write came to: one outcome per message, or a fault of the sink or its configuration that stops the pipeline. */
export type WriteResult =
  | { readonly kind: "outcomes"; readonly outcomes: readonly WriteOutcome[] }
  /** A permanent failure of the whole batch by a sink that may not be asked again for its parts (FW-ERR-03). */
  | { readonly kind: "indivisible"; readonly error: SinksError }
  | { readonly kind: "fault"; readonly error: SinksError };

/** True when an unknown outcome of these messages may be repeated (WO-RT-01). */
export function isSafeToRepeat(sink: Sink, messages: readonly Envelope[]): boolean {
  return hasRetrySafety(sink) && sink.retrySafety(messages) === "safe";
}

/**
 * Calls the sink once, and again for halves when it refuses a batch as a whole for good: no neighbour is condemned by
 * a verdict on the batch (FW-ERR-03, FW-ERR-04).
 */
export async function writeBatch(
  sink: Sink,
  messages: readonly Envelope[],
  context: WriteContext,
  telemetry: Telemetry,
): Promise<WriteResult> {
  let answer: void | readonly WriteOutcome[];
  try {
    answer = await sink.writeBatch(messages, context);
  } catch (thrown) {
    return onThrow(sink, messages, context, telemetry, thrown);
  }
  if (answer === undefined) return { kind: "outcomes", outcomes: new Array<null>(messages.length).fill(null) };
  const fault = contractFault(answer, messages.length);
  return fault === null ? { kind: "outcomes", outcomes: answer } : { kind: "fault", error: fault };
}

function contractFault(answer: unknown, expected: number): SinkContractError | null {
  if (!Array.isArray(answer)) return new SinkContractError("the sink resolved with something other than outcomes");
  if (answer.length !== expected) {
    return new SinkContractError(`the sink gave ${answer.length} outcomes for ${expected} messages`);
  }
  const wrong = answer.findIndex((outcome) => outcome !== null && !isOutcome(outcome));
  return wrong < 0 ? null : new SinkContractError(`outcome ${wrong} of ${expected} is neither null nor a SinkError`);
}

function isOutcome(value: unknown): boolean {
  return isSinkError(value) || isErrorKind(value, "ConfigurationError");
}

async function onThrow(
  sink: Sink,
  messages: readonly Envelope[],
  context: WriteContext,
  telemetry: Telemetry,
  thrown: unknown,
): Promise<WriteResult> {
  if (isErrorKind(thrown, "ConfigurationError") || isErrorKind(thrown, "SinkContractError")) return { kind: "fault", error: thrown };
  const error = toSinkError(thrown);
  const whole: WriteResult = { kind: "outcomes", outcomes: new Array<WriteOutcome>(messages.length).fill(error) };
  if (messages.length === 1 || !isErrorKind(error, "PermanentSinkError")) return whole;
  if (!isSafeToRepeat(sink, messages)) return { kind: "indivisible", error };
  telemetry.count("batch_splits_total");
  return writeHalves(sink, messages, context, telemetry);
}

async function writeHalves(
  sink: Sink,
  messages: readonly Envelope[],
  context: WriteContext,
  telemetry: Telemetry,
): Promise<WriteResult> {
  const middle = Math.ceil(messages.length / 2);
  const outcomes: WriteOutcome[] = [];
  for (const [from, to] of [
    [0, middle],
    [middle, messages.length],
  ] as const) {
    if (context.signal.aborted) {
      for (let index = from; index < to; index += 1) outcomes.push(new NotAttemptedError("the write was aborted before this message"));
      continue;
    }
    const lanes = context.lanes?.slice(from, to) ?? null;
    const result = await writeBatch(sink, messages.slice(from, to), { ...context, lanes }, telemetry);
    if (result.kind !== "outcomes") return result;
    outcomes.push(...result.outcomes);
  }
  return { kind: "outcomes", outcomes };
}
