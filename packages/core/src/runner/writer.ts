import { hasRetrySafety } from "../connector/abilities.js";
import type { Sink, WriteContext, WriteOutcome } from "../connector/sink.js";
import type { Envelope } from "../envelope/envelope.js";
import { isErrorKind, isSinkError, NotAttemptedError, SinkContractError, type SinksError } from "../error/errors.js";
import { toSinkError } from "../error/to-sink-error.js";
import type { Telemetry } from "../telemetry/port.js";

/** What a write came to: all stored, one outcome per message, or a fault of the sink or its configuration that stops the pipeline. */
export type WriteResult =
  /** Every message is durable. */
  | { readonly kind: "stored" }
  | { readonly kind: "outcomes"; readonly outcomes: readonly WriteOutcome[] }
  /** A permanent failure of the whole batch by a sink that may not be asked again for its parts (FW-ERR-03). */
  | { readonly kind: "indivisible"; readonly error: SinksError }
  | { readonly kind: "fault"; readonly error: SinksError };

/** What writing no message comes to. */
export const nothingToWrite: WriteResult = Object.freeze({ kind: "outcomes", outcomes: Object.freeze([]) });
const stored: WriteResult = Object.freeze({ kind: "stored" });

/** True when an unknown outcome of these messages may be repeated (WO-RT-01); a sink that fails to answer is unsafe. */
export function isSafeToRepeat(sink: Sink, messages: readonly Envelope[]): boolean {
  try {
    return hasRetrySafety(sink) && sink.retrySafety(messages) === "safe";
  } catch {
    return false;
  }
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
  if (answer === undefined) return stored;
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

async function writeHalves(sink: Sink, messages: readonly Envelope[], context: WriteContext, telemetry: Telemetry): Promise<WriteResult> {
  const { lanes } = context;
  const middle = Math.ceil(messages.length / 2);
  const outcomes: WriteOutcome[] = [];
  const stopped = new Set<number>();
  for (const [from, to] of [
    [0, middle],
    [middle, messages.length],
  ] as const) {
    const part: number[] = [];
    for (let index = from; index < to; index += 1) {
      if (context.signal.aborted || (lanes !== null && stopped.has(lanes[index] as number))) outcomes[index] = notSent();
      else part.push(index);
    }
    if (part.length === 0) continue;
    const partContext = { ...context, lanes: lanes === null ? null : part.map((index) => lanes[index] as number) };
    const result = await writeBatch(
      sink,
      part.map((index) => messages[index] as Envelope),
      partContext,
      telemetry,
    );
    if (result.kind === "indivisible" || result.kind === "fault") return result;
    for (const [place, index] of part.entries()) {
      const outcome = result.kind === "stored" ? null : (result.outcomes[place] as WriteOutcome);
      outcomes[index] = outcome;
      if (lanes !== null && stopsLane(outcome, context)) stopped.add(lanes[index] as number);
    }
  }
  return { kind: "outcomes", outcomes };
}

/** After such an outcome nothing later of the lane may be written: the rule of a sink inside a batch, kept between halves (FW-RUN-35). */
function stopsLane(outcome: WriteOutcome, context: WriteContext): boolean {
  if (outcome === null) return false;
  return !isErrorKind(outcome, "PermanentSinkError") || context.onPoison !== "dead_letter_and_continue";
}

function notSent(): NotAttemptedError {
  return new NotAttemptedError(
    "the batch was split and this message was not sent: an earlier one of its lane failed, or the write was aborted",
  );
}
