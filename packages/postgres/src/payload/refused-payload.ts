import { isErrorKind, PermanentSinkError, type SinkError, ValidationError } from "@sinks/core";

/** The error of a message whose payload at `index` is refused before anything is sent: what becomes of each of `count` (WO-GEN-12). */
export function refusedPayload(error: SinkError, index: number, count: number): SinkError {
  if (count === 1) return error;
  const others = Array.from({ length: count }, (_, other) => other + 1).filter((other) => other !== index + 1);
  const fates = others.map((other) => `; payload ${other} not attempted`).join("");
  const Kind = isErrorKind(error, "ValidationError") ? ValidationError : PermanentSinkError;
  return new Kind(`payload ${index + 1} of ${count}: ${error.message}${fates}`, { code: error.code, cause: error });
}
