import { isPlainRecord } from "./plain-record.js";
import type { Configuration } from "./schema.js";
import { writesBesidesInsert } from "./write-operations.js";

/** Keys that are kept for compatibility, and why they have no effect (FW-CFG-06). */
const withoutEffect: readonly (readonly [path: readonly string[], why: string])[] = [
  [["delivery", "prefer_safe_duplication"], "and can be removed"],
  [["push_consumer", "drain_timeout_ms"], "; delivery.shutdown_timeout_ms bounds the stop"],
  [["nats", "pending_size_bytes"], "; delivery.max_messages_in_flight bounds what is kept for sending"],
  [["nats", "drain_timeout_seconds"], "; delivery.shutdown_timeout_ms and delivery.abort_grace_ms bound the stop"],
  [["delivery", "in_progress", "shutdown_timeout_ms"], "; heartbeats end with the lease they keep, and nothing waits for them"],
  [["delivery", "ack_confirmation", "unsupported_action"], "; every server that can be used confirms"],
];

function isGiven(raw: unknown, [key, ...rest]: readonly string[]): boolean {
  if (key === undefined) return true;
  return isPlainRecord(raw) && Object.hasOwn(raw, key) && isGiven(raw[key], rest);
}

/** What a valid configuration should be told: keys without effect, and choices with a price (FW-CFG-06, FW-DLQ-08). */
export function configurationNotices(raw: unknown, { delivery, dead_letter: deadLetter, metrics, sink }: Configuration): string[] {
  const notices = [
    ...withoutEffect.map(([path, why]) => isGiven(raw, path) && `${path.join(".")}: has no effect${why.startsWith(";") ? "" : " "}${why}`),
    metrics.enabled &&
      metrics.listen === null &&
      metrics.snapshot_file === null &&
      "metrics.enabled: nothing offers the metrics; set metrics.listen or metrics.snapshot_file",
    delivery.max_messages_in_flight < delivery.batch_size &&
      "delivery.max_messages_in_flight: is below delivery.batch_size, so batches never fill",
    delivery.ordering === "none" &&
      writesBesidesInsert(sink) &&
      "delivery.ordering: none lets writes of one key overtake one another; use per_key or strict to keep their order",
    !deadLetter.enabled &&
      deadLetter.when_disabled === "discard" &&
      "dead_letter.when_disabled: discard drops messages that can never be stored",
  ];
  return notices.filter((notice) => notice !== false);
}
