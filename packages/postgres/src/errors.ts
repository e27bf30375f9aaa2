import { type SinkError, TemporarySinkError } from "@sinks/core";

/** The error that the driver's error stands for (WO-ERR). */
export function toPostgresError(error: unknown): SinkError {
  return new TemporarySinkError("the write to PostgreSQL failed", { cause: error });
}
