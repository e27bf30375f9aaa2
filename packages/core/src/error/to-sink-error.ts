import { isSinkError, type SinkError, TemporarySinkError } from "./errors.js";

/** Gives any thrown value the class the runner decides by: what is not of the family is temporary and budgeted. */
export function toSinkError(value: unknown): SinkError {
  if (isSinkError(value)) return value;
  const name = value instanceof Error ? value.name : typeof value;
  return new TemporarySinkError(`unexpected ${name}`, { code: "unexpected", cause: value });
}
