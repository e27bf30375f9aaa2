import type { StreamLimits } from "../source/stream-limits.js";

/**
 * The setting that may have removed a message that is gone; null when only an acknowledgement, or an operator, can have
 * done that. Limits on the whole stream take from its front, so behind a message that is still there they took nothing.
 */
export function removalReason(sequence: number, limits: StreamLimits): string | null {
  if (limits.retention === "limits") return "removed from the stream";
  const behind = limits.lastSequence - sequence;
  const front = sequence < limits.firstSequence;
  const { maximumAgeMs, maximumMessages, maximumBytes, maximumPerSubject } = limits;
  if (front && maximumAgeMs > 0 && limits.ageMs > maximumAgeMs) return "max_age";
  if (front && !limits.refusesNew && maximumMessages > 0 && behind >= maximumMessages) return "max_msgs";
  if (front && !limits.refusesNew && maximumBytes > 0) return "max_bytes";
  if (!limits.refusesNewPerSubject && maximumPerSubject > 0 && behind >= maximumPerSubject) return "max_msgs_per_subject";
  if (limits.messageTtl) return "message TTL";
  return limits.rollup ? "rollup" : null;
}
