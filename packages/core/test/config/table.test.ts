import { expect, test } from "vitest";
import { configurationSections } from "../../src/config/schema.js";
import { schemaAt } from "../../src/config/schema-walk.js";
import { validateConfiguration } from "../../src/config/validate.js";
import { configurationWith } from "./faults-of.js";

type Record_ = Readonly<Record<string, unknown>>;

const mebibyte = 1_048_576;
const open = Number.MAX_SAFE_INTEGER;

/** Key, default, least and greatest value, as the tables of the contract state them; null is a default of its own. */
const numbers: readonly (readonly [string, number | null, number, number])[] = [
  ["nats.connect_timeout_seconds", 2, 1, 300],
  ["nats.reconnect_time_wait_seconds", 2, 0, 3600],
  ["nats.max_reconnect_attempts", -1, -1, 1_000_000],
  ["nats.ping_interval_seconds", 120, 1, 3600],
  ["nats.max_outstanding_pings", 2, 1, 100],
  ["nats.pending_size_bytes", 2_097_152, 1024, 1024 * mebibyte],
  ["nats.drain_timeout_seconds", 30, 1, 3600],
  ["consumer_management.max_ack_pending", null, 1, 1_000_000],
  ["consumer_management.max_waiting", null, 1, 1_000_000],
  ["consumer_management.max_deliver", null, 1, 1_000_000],
  ["consumer_management.num_replicas", null, 0, 5],
  ["push_consumer.pending_msgs_limit", 1024, 1, 1_000_000],
  ["push_consumer.drain_timeout_ms", 30_000, 0, 600_000],
  ["delivery.batch_size", 1000, 1, 10_000],
  ["delivery.batch_timeout_ms", 1000, 1, open],
  ["delivery.batch_max_bytes", 8 * mebibyte, 1024, open],
  ["delivery.linger_ms", 0, 0, 60_000],
  ["delivery.max_in_flight_batches", 4, 1, 64],
  ["delivery.max_retries", 5, 0, 1_000_000],
  ["delivery.retry_backoff_ms", 1000, 0, 3_600_000],
  ["delivery.retry_backoff_max_ms", 60_000, 0, 3_600_000],
  ["delivery.retry_backoff_multiplier", 2, 1, 10],
  ["delivery.priority_lanes.max_priority_value_length", 64, 1, 256],
  ["delivery.ack_confirmation.timeout_ms", 1000, 1, 60_000],
  ["delivery.shutdown_timeout_ms", 30_000, 0, 600_000],
  ["delivery.abort_grace_ms", 5000, 0, 600_000],
  ["delivery.start_timeout_ms", 30_000, 0, 600_000],
  ["mission_metadata.max_bytes", 8192, 1, 262_144],
  ["security_labels.max_bytes", 8192, 1, 262_144],
  ["size_policy.max_batch_messages", 10_000, 1, 10_000],
];

/** Keys whose default matters and whose range the contract leaves open. */
const defaults: readonly (readonly [string, unknown])[] = [
  ["nats.url", "nats://localhost:4222"],
  ["nats.urls", []],
  ["nats.durable", true],
  ["nats.no_echo", false],
  ["nats.inbox_prefix", "_INBOX"],
  ["nats.tls_first", false],
  ["nats.tls_verify", true],
  ["nats.allow_reconnect", true],
  ["consumer_management.mode", "create_if_missing"],
  ["consumer_management.filter_subjects", []],
  ["consumer_management.deliver_policy", "all"],
  ["consumer_management.replay_policy", "instant"],
  ["consumer_management.metadata", {}],
  ["push_consumer.enabled", false],
  ["push_consumer.manual_ack", true],
  ["push_consumer.pending_bytes_limit", 67_108_864],
  ["push_consumer.queue_overflow_action", "nak"],
  ["push_consumer.flow_control", false],
  ["delivery.max_messages_in_flight", 5000],
  ["delivery.max_bytes_in_flight", 64 * mebibyte],
  ["delivery.order_key", "subject"],
  ["delivery.ack_policy", "after_sink_commit"],
  ["delivery.ack_mode", "batch_confirmed"],
  ["delivery.retry_backoff_mode", "exponential"],
  ["delivery.retry_jitter", "full"],
  ["delivery.temporary_failure_action", "nak"],
  ["delivery.retry_exhausted_action", "dead_letter"],
  ["delivery.on_consumer_missing", "unhealthy"],
  ["delivery.allow_single_delivery", false],
  ["delivery.in_progress", { enabled: true, interval_ms: 5000, max_heartbeats: null, max_lease_ms: 600_000, shutdown_timeout_ms: 5000 }],
  ["delivery.ack_confirmation.enabled", false],
  ["delivery.on_unknown", "redeliver"],
  ["delivery.max_parked", 1000],
  ["idempotency", { allow_unknown_incarnation: false, account: null }],
  ["dead_letter.enabled", false],
  ["dead_letter.include_payload", true],
  ["dead_letter.include_headers", true],
  ["dead_letter.include_error", true],
  ["dead_letter.ack_term_after_publish", false],
  ["dead_letter.format", "json"],
  ["dead_letter.oversize", "chunk"],
  ["dead_letter.max_bytes", null],
  ["dead_letter.max_in_flight", 64],
  ["dead_letter.when_disabled", "hold"],
  ["dead_letter.max_ratio", null],
  ["logging", { level: "INFO", format: "text", payload_logging: false, progress_interval_seconds: 30 }],
  ["message_metadata.priority", { header: "Nats-Sinks-Priority", default: null }],
  ["message_metadata.classification", { header: "Nats-Sinks-Classification", default: null }],
  ["message_metadata.labels", { header: "Nats-Sinks-Labels", default: null }],
  ["metrics.namespace", "nats_sinks"],
  ["metrics.event_freshness_enabled", true],
  ["metrics.event_stale_after_seconds", 300],
  ["metrics.event_future_skew_tolerance_seconds", 5],
  ["metrics.listen", null],
  ["advisories.max_payload_bytes", 65_536],
  ["advisories.log_events", false],
  ["routing.mode", "first"],
  ["routing.no_match", "reject"],
  ["plugins", { enabled: false, allowed_sinks: [], require_production_ready: true }],
  ["encryption.algorithm", "aes-256-gcm"],
  ["encryption.key_id", "default"],
  ["encryption.nonce_size_bytes", 12],
  ["encryption.tag_length", 16],
  ["encryption.format_version", 2],
  ["message_authenticity.unmatched_subject_action", "reject"],
  ["message_authenticity.signature_header", "Nats-Sinks-Authenticity-Signature"],
  ["message_authenticity.algorithm_header", "Nats-Sinks-Authenticity-Algorithm"],
  ["message_authenticity.key_id_header", "Nats-Sinks-Authenticity-Key-Id"],
  ["custody.algorithm", "sha256"],
  ["custody.hash_payload", true],
  ["custody.hash_metadata", true],
  ["custody.include_previous_hash", false],
  ["custody.previous_hash_header", "Nats-Sinks-Previous-Custody-Hash"],
  ["custody.key_id", null],
  ["custody.max_hash_input_bytes", 16 * mebibyte],
  ["size_policy.max_payload_bytes", 16 * mebibyte],
  ["size_policy.max_header_count", 128],
  ["size_policy.max_header_name_bytes", 256],
  ["size_policy.max_header_value_bytes", 8192],
  ["size_policy.max_headers_bytes", 65_536],
  ["size_policy.max_label_count", 64],
  ["size_policy.max_label_bytes", 128],
  ["size_policy.max_labels_bytes", 4096],
  ["size_policy.max_mission_metadata_bytes", 8192],
  ["size_policy.max_standard_metadata_bytes", 262_144],
  ["size_policy.max_normalized_record_bytes", 20 * mebibyte],
  ["pre_sink_policy.unmatched_subject_action", "reject"],
];

const least = validateConfiguration(configurationWith());
const at = (root: unknown, path: string) => path.split(".").reduce<unknown>((value, key) => (value as Record_)[key], root);

/** True when the schema of the key alone takes the value. */
function takes(path: string, value: unknown): boolean {
  const [section, ...keys] = path.split(".") as [string, ...string[]];
  const patch = keys.reduceRight<unknown>((inner, key) => ({ [key]: inner }), value) as Record_;
  const raw = configurationWith({ [section]: patch })[section];
  const schema = schemaAt(configurationSections, [section]) as unknown as { safeParse(value: unknown): { success: boolean } };
  return schema.safeParse(raw).success;
}

test.each(numbers)("FW-CFG-07..16 %s is %s by default and takes %d to %d", (path, standard, minimum, maximum) => {
  expect(at(least, path)).toBe(standard);
  expect([takes(path, minimum), takes(path, maximum), takes(path, minimum - 1), takes(path, maximum + 1)]).toEqual([
    true,
    true,
    false,
    false,
  ]);
  expect([takes(path, String(minimum)), takes(path, true), takes(path, Number.NaN)]).toEqual([false, false, false]);
});

test.each(defaults)("FW-CFG-07..16 %s is %j by default", (path, standard) => {
  expect(at(least, path)).toEqual(standard);
});

test.each([
  ["consumer_management.mode", ["bind_only", "create_if_missing", "reconcile"]],
  ["consumer_management.deliver_policy", ["all", "last", "new", "last_per_subject", "by_start_sequence", "by_start_time"]],
  ["delivery.ordering", ["none", "per_key", "strict"]],
  ["delivery.on_poison", ["dead_letter_and_continue", "park_key", "stop"]],
  ["delivery.ack_mode", ["plain", "batch_confirmed", "confirmed"]],
  ["delivery.retry_backoff_mode", ["fixed", "linear", "exponential"]],
  ["delivery.retry_jitter", ["none", "full", "equal"]],
  ["delivery.temporary_failure_action", ["nak", "leave_unacked"]],
  ["delivery.retry_exhausted_action", ["dead_letter", "hold"]],
  ["delivery.on_consumer_missing", ["unhealthy", "recreate", "exit"]],
  ["delivery.on_unknown", ["redeliver", "dead_letter", "hold"]],
  ["delivery.order_key", ["subject", "header:X-Order", "subject_token:2"]],
  ["dead_letter.format", ["json", "raw"]],
  ["dead_letter.oversize", ["chunk", "metadata_only", "hold"]],
  ["dead_letter.when_disabled", ["hold", "stop", "discard"]],
  ["routing.mode", ["first", "all"]],
  ["routing.no_match", ["reject", "default_route", "ignore"]],
  ["encryption.algorithm", ["aes-256-gcm", "aes-256-ccm"]],
  ["custody.algorithm", ["sha256", "sha512"]],
])("FW-CFG-07..16 %s takes the words %j and no other", (path, words) => {
  for (const word of words) expect(takes(path, word), word).toBe(true);
  for (const word of ["other", (words[0] as string).toUpperCase(), 1, true, [words[0]]])
    expect(takes(path, word), String(word)).toBe(false);
});

test.each([
  ["consumer_management.ack_wait_seconds", [0.001, 86_400], [0, 86_400.5, -1]],
  [
    "consumer_management.backoff_seconds",
    [[604_800], Array.from({ length: 128 }, () => 1)],
    [[], [0], [604_801], Array.from({ length: 129 }, () => 1)],
  ],
  [
    "consumer_management.filter_subjects",
    [Array.from({ length: 64 }, (_, n) => `a.${n}`)],
    [Array.from({ length: 65 }, (_, n) => `a.${n}`), ["a..b"], ["a", "a"]],
  ],
  [
    "consumer_management.metadata",
    [Object.fromEntries(Array.from({ length: 32 }, (_, n) => [`k${n}`, "v"]))],
    [Object.fromEntries(Array.from({ length: 33 }, (_, n) => [`k${n}`, "v"])), { a: 1 }],
  ],
  [
    "consumer_management.start_time",
    ["2026-01-31T00:00:00Z", "2026-01-31T00:00:00.123456789+01:00"],
    ["2026-01-31", "yesterday", "2026-01-31T00:00:00"],
  ],
  ["nats.stream", ["A", "a-b_c", "x".repeat(255)], ["", "a b", "a.b", "a*", "a>", "a/b", "a\\b", "a\tb", "a\u0000", "x".repeat(256)]],
  ["nats.subject", ["a", "a.*.b", ">", "a.>"], ["", "a.", ".a", "a..b", "a.>.b", "a b", "a*"]],
  [
    "nats.url",
    ["nats://a", "tls://a:1", "ws://a", "wss://[::1]:443"],
    ["a:4222", "http://a", "nats://", "nats://u@a", "nats://u:p@a", "", 5],
  ],
  [
    "delivery.order_key",
    ["subject_token:1", "subject_token:12"],
    ["subject_token:0", "subject_token:", "header:", "header:a b", "payload"],
  ],
  ["metrics.listen", ["127.0.0.1:9090", ":9090", "[::1]:9090", "127.0.0.1:65535"], ["9090", "localhost", "http://a:1", "127.0.0.1:65536"]],
  [
    "plugins.allowed_sinks",
    [Array.from({ length: 32 }, (_, n) => `s${n}`)],
    [Array.from({ length: 33 }, (_, n) => `s${n}`), ["Bad"], ["../x"]],
  ],
  ["logging.level", ["INFO", "WARN", "WARNING", "DEBUG", "ERROR", "CRITICAL"], ["info", "LOUD"]],
])("FW-CFG-07..12 %s takes %j and refuses %j", (path, good, bad) => {
  for (const value of good) expect(takes(path, value), JSON.stringify(value)).toBe(true);
  for (const value of bad) expect(takes(path, value), JSON.stringify(value)).toBe(false);
});

test("FW-CFG-11 there are fifteen advisory subjects by default", () => {
  expect(new Set(least.advisories.subjects).size).toBe(15);
});

test("FW-CFG-12 sinks are named as the contract says, up to 64 of them", () => {
  const named = (...names: string[]) =>
    takes("sinks", undefined) &&
    configurationSections.shape.sinks.safeParse(Object.fromEntries(names.map((name) => [name, { type: "file" }]))).success;
  expect([named("a"), named("A_b.c:d-e"), named(`a${"b".repeat(127)}`), named("1a"), named(`a${"b".repeat(128)}`), named("a b")]).toEqual([
    true,
    true,
    true,
    false,
    false,
    false,
  ]);
  expect([named(...Array.from({ length: 64 }, (_, n) => `s${n}`)), named(...Array.from({ length: 65 }, (_, n) => `s${n}`))]).toEqual([
    true,
    false,
  ]);
});
