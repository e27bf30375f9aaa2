import {
  CredentialsError,
  DestinationUnavailableError,
  type ErrorOptions,
  PermanentSinkError,
  type SinkError,
  TemporarySinkError,
  UnknownOutcomeError,
} from "@sinks/core";
import type { SegmentFailure } from "./segment-failure.js";

/** The outcome of messages that failed so, as long as nothing else is known about their neighbours (WO-ERR). */
export function writeError(failure: SegmentFailure): SinkError {
  switch (failure.course) {
    case "isolate":
    case "repeated_key":
      return permanentError(failure);
    case "parent_missing":
    case "repeat":
    case "timed_out":
    case "stale_plan":
      return new TemporarySinkError(textOf(failure), optionsOf(failure));
    case "denied":
    case "credentials":
      return new CredentialsError(textOf(failure), optionsOf(failure));
    case "schema":
    case "unavailable":
      return unavailableError(failure);
    case "lost":
      return failure.maybeApplied ? new UnknownOutcomeError(textOf(failure), optionsOf(failure)) : unavailableError(failure);
  }
}

/** The message alone is at fault. */
export function permanentError(failure: SegmentFailure): SinkError {
  return new PermanentSinkError(textOf(failure), { ...optionsOf(failure), ...(failure.failure === null ? { code: "zero_rows" } : {}) });
}

/** Nothing of it is applied and no message is at fault. */
export function unavailableError(failure: SegmentFailure): SinkError {
  return new DestinationUnavailableError(textOf(failure), optionsOf(failure));
}

function optionsOf({ failure }: SegmentFailure): ErrorOptions {
  if (failure === null) return {};
  return { cause: failure.error, ...(failure.code === null ? {} : { destinationCode: failure.code }) };
}

/** Names and codes only: values, keys and the server's own words stay out (WO-OB-03). */
function textOf({ failure, form, maybeApplied }: SegmentFailure): string {
  const what = form === null ? "the write" : `${form.operation} ${form.destination}`;
  if (failure === null) return `${what} matched no row`;
  if (failure.kind === "lost")
    return `the connection was lost ${maybeApplied ? "while the write was under way" : "before the write was committed"}`;
  return [`${what} failed`, failure.code, ...namesOf(failure.error)].filter((part) => part !== null).join(", ");
}

function namesOf(error: unknown): readonly string[] {
  const fields = (error ?? {}) as Readonly<Record<string, unknown>>;
  return ["table", "column", "constraint"].flatMap((name) => (typeof fields[name] === "string" ? [`${name} ${fields[name]}`] : []));
}
