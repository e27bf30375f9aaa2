import { type ErrorOptions, ValidationError } from "@sinks/core";

/** The error of one payload: which operation, which field or path, what is wrong with it; never a value (WO-GEN-07). */
export function rejectPayload(operation: string, reason: string, options: ErrorOptions = {}): ValidationError {
  return new ValidationError(`PostgreSQL payload, ${operation}: ${reason}`, options);
}
