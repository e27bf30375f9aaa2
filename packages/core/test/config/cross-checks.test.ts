import { expect, test } from "vitest";
import { validateConfiguration } from "../../src/config/validate.js";
import { configurationWith, faultLines } from "./faults-of.js";

const key32 = Buffer.alloc(32, 7).toString("base64");
const consumer = "consumer_management";

/** Patch, the fault expected, and a neighbouring patch that is fine. */
const rules: readonly (readonly [string, Record<string, unknown>, string, Record<string, unknown>])[] = [
  [
    "FW-CFG-07",
    { nats: { urls: ["nats://a", "wss://b"] } },
    "nats.urls: must not mix ws and wss with nats and tls",
    { nats: { urls: ["nats://a", "tls://b"] } },
  ],
  [
    "FW-CFG-07",
    { nats: { domain: "hub", api_prefix: "$JS.hub.API" } },
    "nats.api_prefix: must not stand beside nats.domain",
    { nats: { domain: "hub" } },
  ],
  [
    "FW-CFG-07",
    { nats: { token: "t", creds_file: "c" } },
    "nats: must have one way to authenticate, not token, creds_file",
    { nats: { token: "t" } },
  ],
  ["FW-CFG-07", { nats: { user: "bob" } }, "nats.user: needs a password", { nats: { user: "bob", password_env: "P" } }],
  ["FW-CFG-07", { nats: { password: "p" } }, "nats.password: needs nats.user", { nats: { user: "bob", password: "p" } }],
  [
    "FW-CFG-07",
    { nats: { tls_cert_file: "c" } },
    "nats.tls_cert_file: needs nats.tls_key_file",
    { nats: { tls_cert_file: "c", tls_key_file: "k" } },
  ],
  ["FW-CFG-07", { nats: { tls_key_file: "k" } }, "nats.tls_key_file: needs nats.tls_cert_file", { nats: {} }],
  ["FW-CFG-07", { nats: { websocket_headers: { "X-Route": "a" } } }, "nats.websocket_headers: needs servers with ws or wss", { nats: {} }],
  [
    "FW-CFG-07",
    { nats: { url: "wss://a", websocket_headers: { Cookie: "a" } } },
    "nats.websocket_headers.Cookie: a header that carries a secret must not stand in the file",
    { nats: {} },
  ],
  [
    "FW-CFG-07",
    { nats: { url: "wss://a", websocket_headers_env: { "Sec-WebSocket-Key": "A" } } },
    "nats.websocket_headers_env.Sec-WebSocket-Key: belongs to the protocol and cannot be set",
    { nats: {} },
  ],
  [
    "FW-CFG-07",
    { nats: { url: "wss://a", websocket_headers: { A: "x".repeat(2049) } } },
    "nats.websocket_headers.A: too long",
    { nats: {} },
  ],
  [
    "FW-CFG-07",
    { nats: { url: "wss://a", websocket_headers: Object.fromEntries(Array.from({ length: 33 }, (_, n) => [`H${n}`, "x"])) } },
    "nats.websocket_headers: too many entries",
    { nats: {} },
  ],
  [
    "FW-CFG-07",
    { nats: { url: "wss://a", websocket_headers: { A: "1" }, websocket_headers_env: { a: "V" } } },
    "nats.websocket_headers_env.a: must not stand in nats.websocket_headers too",
    { nats: {} },
  ],
  [
    "FW-CFG-07",
    { nats: { url: "http://a" } },
    "nats.url: must begin with nats://, tls://, ws:// or wss://",
    { nats: { url: "tls://a:4443" } },
  ],
  ["FW-CFG-07", { nats: { url: "nats://bob@a" } }, "nats.url: must not hold a user name or password", { nats: { url: "nats://a" } }],
  [
    "FW-CFG-04",
    { nats: { user: "bob", password: "p", password_env: "P" } },
    "nats.password: must not stand beside password_env",
    { nats: { user: "bob", password: "p" } },
  ],
  [
    "FW-CFG-08",
    { [consumer]: { ack_wait_seconds: 3, backoff_seconds: [1] } },
    `${consumer}.backoff_seconds: must not stand beside ack_wait_seconds`,
    { [consumer]: { backoff_seconds: [1] } },
  ],
  [
    "FW-CFG-08",
    { [consumer]: { max_deliver: 2, backoff_seconds: [1, 2, 3] } },
    `${consumer}.backoff_seconds: has more entries than max_deliver`,
    { [consumer]: { max_deliver: 3, backoff_seconds: [1, 2, 3] } },
  ],
  [
    "FW-CFG-08",
    { [consumer]: { start_sequence: 3 } },
    `${consumer}.start_sequence: needs deliver_policy by_start_sequence`,
    { [consumer]: { start_sequence: 3, deliver_policy: "by_start_sequence" } },
  ],
  [
    "FW-CFG-08",
    { [consumer]: { deliver_policy: "by_start_time" } },
    `${consumer}.start_time: required key is missing`,
    { [consumer]: { deliver_policy: "by_start_time", start_time: "2026-01-31T00:00:00Z" } },
  ],
  [
    "FW-CFG-08",
    { [consumer]: { filter_subjects: ["other.a"] } },
    `${consumer}.filter_subjects[0]: is not contained in nats.subject`,
    { [consumer]: { filter_subjects: ["events.a"] } },
  ],
  [
    "FW-CFG-08",
    { [consumer]: { filter_subjects: ["events.a", "events.*"] } },
    `${consumer}.filter_subjects[1]: overlaps an earlier filter`,
    { [consumer]: { filter_subjects: ["events.a", "events.b.*"] } },
  ],
  [
    "FW-CFG-08",
    { [consumer]: { filter_subjects: ["events.a", "events.a"] } },
    `${consumer}.filter_subjects: must not repeat an entry`,
    { [consumer]: { filter_subjects: ["events.a"] } },
  ],
  [
    "FW-RUN-04",
    { [consumer]: { max_deliver: 1 } },
    `${consumer}.max_deliver: 1 leaves no second delivery after a crash`,
    { [consumer]: { max_deliver: 1 }, delivery: { allow_single_delivery: true } },
  ],
  [
    "FW-CFG-09",
    { [consumer]: { max_ack_pending: 100 } },
    "delivery.batch_size: must not be above consumer_management.max_ack_pending",
    { [consumer]: { max_ack_pending: 100 }, delivery: { batch_size: 100 } },
  ],
  [
    "FW-CFG-09",
    { [consumer]: { max_ack_pending: 1000 }, delivery: { max_messages_in_flight: 1001 } },
    "delivery.max_messages_in_flight: must not be above consumer_management.max_ack_pending",
    { [consumer]: { max_ack_pending: 1000 }, delivery: { max_messages_in_flight: 1000 } },
  ],
  [
    "FW-CFG-09",
    { delivery: { retry_backoff_ms: 2000, retry_backoff_max_ms: 1999 } },
    "delivery.retry_backoff_max_ms: must not be below delivery.retry_backoff_ms",
    { delivery: { retry_backoff_ms: 2000, retry_backoff_max_ms: 2000 } },
  ],
  [
    "FW-CFG-09",
    { delivery: { ack_mode: "plain", ack_confirmation: { enabled: true } } },
    "delivery.ack_mode: must be confirmed when delivery.ack_confirmation.enabled is true",
    { delivery: { ack_mode: "confirmed", ack_confirmation: { enabled: true } } },
  ],
  [
    "FW-RUN-36",
    { delivery: { on_poison: "dead_letter_and_continue" } },
    "delivery.on_poison: dead_letter_and_continue needs dead letters",
    { delivery: { on_poison: "dead_letter_and_continue" }, dead_letter: { enabled: true, subject: "dlq" } },
  ],
  [
    "FW-CFG-10",
    { dead_letter: { enabled: true } },
    "dead_letter.subject: required key is missing",
    { dead_letter: { enabled: true, subject: "dlq.a" } },
  ],
  [
    "FW-CFG-10",
    { dead_letter: { enabled: true, subject: "dlq.*" } },
    "dead_letter.subject: must be a subject without wildcards",
    { dead_letter: { enabled: true, subject: "dlq.x" } },
  ],
  [
    "FW-CFG-10",
    { dead_letter: { enabled: true, subject: "events.dlq" } },
    "dead_letter.subject: lies inside the consumer's own filter",
    { dead_letter: { enabled: true, subject: "events" } },
  ],
  [
    "FW-CFG-10",
    { [consumer]: { filter_subjects: ["events.a.*"] }, dead_letter: { enabled: true, subject: "events.a.dlq" } },
    "dead_letter.subject: lies inside the consumer's own filter",
    { [consumer]: { filter_subjects: ["events.a.*"] }, dead_letter: { enabled: true, subject: "events.dlq" } },
  ],
  [
    "FW-CFG-06",
    { logging: { payload_logging: true } },
    "logging.payload_logging: payloads are never logged",
    { logging: { payload_logging: false } },
  ],
  [
    "FW-CFG-09",
    { delivery: { priority_lanes: { default_lane: "other" } } },
    "delivery.priority_lanes.default_lane: must name one of delivery.priority_lanes.lanes",
    { delivery: { priority_lanes: { lanes: [{ name: "default" }] } } },
  ],
  [
    "FW-CFG-12",
    { routing: { default_targets: ["a"] } },
    "routing.default_targets: needs no_match default_route",
    { routing: { no_match: "default_route", default_targets: ["a"] } },
  ],
  [
    "FW-FAN-10",
    { routing: { routes: [{ name: "r", match: { subject: "a" }, targets: [{ sink: "x", required: false }] }] } },
    "routing.routes[0].targets: has no required target",
    { routing: { routes: [{ name: "r", match: { subject: "a" }, targets: [{ sink: "x", required: false }], allow_unrequired: true }] } },
  ],
  [
    "FW-RTE-01",
    { routing: { routes: [{ name: "r", match: {}, targets: ["x"] }] } },
    "routing.routes[0].match: must have at least one criterion",
    { routing: {} },
  ],
  [
    "FW-RTE-01",
    { routing: { routes: [{ name: "r", match: { labels_all: ["a"], labels_none: ["a"] }, targets: ["x"] }] } },
    "routing.routes[0].match: must not name a label both in labels_all and labels_none",
    { routing: {} },
  ],
  [
    "FW-RTE-01",
    { routing: { routes: [{ name: "r", match: { headers: [{ name: "Authorization", values: ["a"] }] }, targets: ["x"] }] } },
    "routing.routes[0].match.headers[0].name: must not be a header that carries secrets",
    { routing: {} },
  ],
  [
    "FW-CFG-12",
    { routing: { routes: [{ name: "r", match: { subject: "a" }, targets: [{ sink: "x", minimum_wait_ms: 5, timeout_ms: 4 }] }] } },
    "routing.routes[0].targets[0].timeout_ms: must not be below minimum_wait_ms",
    { routing: {} },
  ],
  [
    "FW-CFG-14",
    { encryption: { key_b64: "c2hvcnQ=" } },
    "encryption.key_b64: must be 32 bytes in padded base64",
    { encryption: { key_b64: key32 } },
  ],
  [
    "FW-CFG-15",
    { message_authenticity: { key_id_header: "Nats-Sinks-Authenticity-signature" } },
    "message_authenticity: must have three distinct headers",
    { message_authenticity: {} },
  ],
  [
    "FW-CFG-15",
    { custody: { hash_payload: false, hash_metadata: false } },
    "custody.hash_metadata: one of hash_payload and hash_metadata must be true",
    { custody: { hash_payload: false } },
  ],
  [
    "FW-POL-01",
    { size_policy: { max_labels_bytes: 100 } },
    "size_policy.max_labels_bytes: must not be below size_policy.max_label_bytes",
    { size_policy: { max_labels_bytes: 128 } },
  ],
  [
    "FW-CFG-16",
    { pre_sink_policy: { rules: [{ subject: "a" }] } },
    "pre_sink_policy.rules[0]: must have at least one check",
    { pre_sink_policy: { rules: [{ require_priority: true }] } },
  ],
];

test.each(rules)("%s %j is refused: %s", (_id, patch, line, fine) => {
  const found = faultLines(patch).filter((each) => each.startsWith(line));
  expect(found, faultLines(patch).join("\n")).toHaveLength(1);
  expect(faultLines(fine)).toEqual([]);
});

test("FW-CFG-09 max_messages_in_flight follows batch_size and max_in_flight_batches, at most max_ack_pending", () => {
  const flight = (patch: Record<string, unknown>) => validateConfiguration(configurationWith(patch)).delivery.max_messages_in_flight;
  expect(flight({ delivery: { batch_size: 10, max_in_flight_batches: 2 } })).toBe(30);
  expect(flight({ delivery: { batch_size: 10, max_in_flight_batches: 2 }, [consumer]: { max_ack_pending: 20 } })).toBe(20);
  expect(flight({ delivery: { max_messages_in_flight: 7 } })).toBe(7);
});

test("FW-CFG-09 ordering is strict when a write map has any op but insert, unless it is named", () => {
  const ordering = (write: unknown, delivery: object = {}) =>
    validateConfiguration(configurationWith({ sink: { write }, delivery })).delivery.ordering;
  expect(ordering(undefined)).toBe("none");
  expect(ordering([{ op: "insert" }])).toBe("none");
  expect(ordering([{ op: "insert" }, { op: "upsert" }])).toBe("strict");
  expect(ordering([{ op: "upsert" }], { ordering: "none" })).toBe("none");
});

test("FW-CFG-09 WO-GEN-01 a rule without op has its connector's default, and is no insert where nobody knows", () => {
  const ordering = (type: string) => validateConfiguration(configurationWith({ sink: { type, write: [{}] } })).delivery.ordering;
  expect([ordering("postgres"), ordering("mongo"), ordering("redis"), ordering("other")]).toEqual(["none", "none", "strict", "strict"]);
});

test("FW-RUN-36 on_poison is stop with dead letters off and dead_letter_and_continue with them", () => {
  expect(validateConfiguration(configurationWith()).delivery.on_poison).toBe("stop");
  expect(validateConfiguration(configurationWith({ dead_letter: { enabled: true, subject: "dlq" } })).delivery.on_poison).toBe(
    "dead_letter_and_continue",
  );
});

test("FW-CFG-09 ack_confirmation.enabled means ack_mode confirmed", () => {
  expect(validateConfiguration(configurationWith({ delivery: { ack_confirmation: { enabled: true } } })).delivery.ack_mode).toBe(
    "confirmed",
  );
});
