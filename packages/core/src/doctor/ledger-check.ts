import { isPlainRecord } from "../config/plain-record.js";
import type { Configuration } from "../config/schema.js";
import type { Check } from "../connector/preflight.js";
import type { ConsumerState } from "../source/consumer.js";
import type { Answer } from "../source/examination.js";
import type { StreamState } from "../source/stream-audit.js";
import { failed, passed, skipped, warned } from "./finding.js";

const id = "sink.ledger.retention";
const nsPerSecond = 1e9;

/**
 * The records of a ledger outlive the last delivery of their messages (FW-LED-06): at least the stream's `max_age`, or the
 * consumer's longest wait where that is more. No check for a sink without a ledger.
 */
export function ledgerChecks({ sink }: Configuration, stream: Answer<StreamState>, consumer: Answer<ConsumerState>): readonly Check[] {
  const ledger: unknown = sink["ledger"];
  if (!isPlainRecord(ledger) || ledger["enabled"] !== true) return [];
  if (stream.kind !== "answer") return [skipped(id, "the stream cannot be read")];
  const retention = typeof ledger["retention_seconds"] === "number" ? ledger["retention_seconds"] : defaultRetentionSeconds;
  const { backoff = [], ack_wait: ackWait = 0 } = consumer.kind === "answer" ? consumer.value.config : {};
  const longestWait = Math.max(ackWait, ...backoff) / nsPerSecond;
  const maximumAge = (stream.value.config.max_age ?? 0) / nsPerSecond;
  if (maximumAge === 0) {
    return [
      warned(
        id,
        `the stream has no max_age: a message may be delivered after its record is gone, ${retention} s after it was applied`,
        "give the stream a max_age below sink.ledger.retention_seconds",
      ),
    ];
  }
  const needed = Math.max(maximumAge, longestWait);
  return [
    retention >= needed
      ? passed(id, `records are kept for ${retention} s, messages come at most for ${needed} s`)
      : failed(
          id,
          `records are kept for ${retention} s, but messages may come for ${needed} s`,
          `set sink.ledger.retention_seconds to at least ${Math.ceil(needed)}`,
        ),
  ];
}

/** As the ledgers of all connectors have it (FW-LED). */
const defaultRetentionSeconds = 604_800;
