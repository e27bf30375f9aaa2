import { isErrorKind, type SinkError } from "../error/errors.js";
import type { Telemetry } from "../telemetry/port.js";

/**
 * Counts why a message was not stored. What a gate rejected is no failure of the sink (FW-POL-04); a write of unknown
 * outcome is counted also where it may be repeated (FW-ERR-01).
 */
export function countFailure(telemetry: Telemetry, outcome: SinkError, rejection: SinkError | null): void {
  if (isErrorKind(outcome, "NotAttemptedError")) return;
  telemetry.count("messages_failed_total");
  if (outcome === rejection) {
    if (isErrorKind(outcome, "SizePolicyViolationError")) telemetry.count("size_policy_messages_rejected_total", 1, outcome.code);
    // Given up by the server, not by a gate: counted where that was told.
    else if (isErrorKind(outcome, "RetryExhaustedError")) return;
    else if (outcome.code === "gate_failed") telemetry.count("size_policy_evaluation_errors_total");
    else telemetry.count("message_normalization_errors_total", 1, outcome.code);
    return;
  }
  telemetry.count("sink_write_errors_total", 1, outcome.code);
  if (isErrorKind(outcome, "UnknownOutcomeError")) telemetry.count("unknown_outcomes_total");
}
