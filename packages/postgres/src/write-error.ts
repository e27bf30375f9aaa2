import { DestinationUnavailableError, type ErrorOptions, PermanentSinkError, type SinkError } from "@sinks/core";
import { toPostgresError } from "./errors.js";
import type { SegmentFailure } from "./segment-failure.js";

/** The outcome of messages that failed so, as long as nothing else is known about their neighbours (WO-ERR). */
export function writeError(failed: SegmentFailure): SinkError {
  if (failed.course === "isolate") return permanentError(failed);
  return reported(failed) ?? permanentError(failed);
}

/** The message alone is at fault. */
export function permanentError(failed: SegmentFailure): SinkError {
  const error = reported(failed);
  if (error === null) return new PermanentSinkError(`${labelOf(failed)} matched no row`, { code: "zero_rows" });
  return new PermanentSinkError(error.message, optionsOf(error));
}

/** Nothing of it is applied and no message is at fault. */
export function unavailableError(failed: SegmentFailure): SinkError {
  const error = reported(failed);
  return error === null
    ? new DestinationUnavailableError(labelOf(failed))
    : new DestinationUnavailableError(error.message, optionsOf(error));
}

/** What the server or the session said; null where a write matched no row. */
function reported(failed: SegmentFailure): SinkError | null {
  return failed.failure === null ? null : toPostgresError(failed.failure, labelOf(failed), failed.maybeApplied);
}

function labelOf({ form }: SegmentFailure): string {
  return form === null ? "batch" : `${form.operation} ${form.destination}`;
}

function optionsOf({ cause, destinationCode }: SinkError): ErrorOptions {
  return { cause, ...(destinationCode === null ? {} : { destinationCode }) };
}
