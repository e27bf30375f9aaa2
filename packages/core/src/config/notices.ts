import { isPlainRecord } from "./plain-record.js";
import type { Configuration } from "./schema.js";

function isGiven(raw: unknown, section: string, key: string): boolean {
  const record = isPlainRecord(raw) ? raw[section] : undefined;
  return isPlainRecord(record) && Object.hasOwn(record, key);
}

function writesBesidesInsert(sink: Configuration["sink"]): boolean {
  const rules = sink["write"];
  return Array.isArray(rules) && rules.some((rule: unknown) => isPlainRecord(rule) && rule["op"] !== "insert");
}

/** What a valid configuration should be told: keys without effect, and choices with a price (FW-CFG-06, FW-DLQ-08). */
export function configurationNotices(raw: unknown, { delivery, dead_letter: deadLetter, sink }: Configuration): string[] {
  const notices = [
    isGiven(raw, "delivery", "prefer_safe_duplication") && "delivery.prefer_safe_duplication: has no effect and can be removed",
    isGiven(raw, "push_consumer", "drain_timeout_ms") &&
      "push_consumer.drain_timeout_ms: has no effect; delivery.shutdown_timeout_ms bounds the stop",
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
