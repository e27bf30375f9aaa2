import { DestinationUnavailableError, type ErrorOptions, PermanentSinkError, type SinkError } from "@sinks/core";
import { toPostgresError } from "../errors.js";
import type { SegmentFailure } from "./segment-failure.js";

/** The outcome of messages that failed so, as long as nothing else is known about their neighbours (WO-ERR). */
export function writeError(failed: SegmentFailure): SinkError {
  if (failed.course === "isolate") return permanentError(failed);
  if (failed.course === "schema") return unavailableError(failed);
  return reported(failed) ?? permanentError(failed);
}

/** The message alone is at fault. */
export function permanentError(failed: SegmentFailure): SinkError {
  const error = reported(failed);
  if (error === null) return new PermanentSinkError(`${labelOf(failed)} matched no row${fatesOf(failed)}`, { code: "zero_rows" });
  return new PermanentSinkError(`${error.message}${fatesOf(failed)}`, optionsOf(error));
}

/** Nothing of it is applied and no message is at fault. */
export function unavailableError(failed: SegmentFailure): SinkError {
  const error = reported(failed);
  return error === null
    ? new DestinationUnavailableError(labelOf(failed))
    : new DestinationUnavailableError(`${error.message}${remedyOf(failed)}`, optionsOf(error));
}

/** What the server or the session said; null where a write matched no row. */
function reported(failed: SegmentFailure): SinkError | null {
  return failed.failure === null ? null : toPostgresError(failed.failure, labelOf(failed), failed.maybeApplied);
}

/** A table of the sink's own is made by statements that the sink knows (WO-ERR-05). */
function remedyOf({ form, failure }: SegmentFailure): string {
  const isMissing = failure?.code === "42P01" || failure?.code === "3F000";
  return form?.operation === "envelope" && isMissing ? "; `sinks ddl` prints the statement that makes the table" : "";
}

function labelOf({ form, payloads }: SegmentFailure): string {
  const what = form === null ? "batch" : `${form.operation} ${form.destination}`;
  return payloads === null ? what : `${what} (${rangeText(payloads.first, payloads.last)} of ${payloads.count})`;
}

/** What became of the other payloads of the message (WO-GEN-12): it is applied together or not at all. */
function fatesOf({ payloads }: SegmentFailure): string {
  if (payloads === null) return "";
  const { first, last, count } = payloads;
  const before = first > 1 ? [`${rangeText(1, first - 1)} rolled back`] : [];
  const behind = last < count ? [`${rangeText(last + 1, count)} not attempted`] : [];
  return [...before, ...behind].map((fate) => `; ${fate}`).join("");
}

function rangeText(first: number, last: number): string {
  return first === last ? `payload ${first}` : `payloads ${first} to ${last}`;
}

function optionsOf({ cause, destinationCode }: SinkError): ErrorOptions {
  return { cause, ...(destinationCode === null ? {} : { destinationCode }) };
}
