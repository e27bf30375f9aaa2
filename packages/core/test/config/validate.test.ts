import { inspect } from "node:util";
import { expect, test } from "vitest";
import { configurationFaults } from "../../src/config/faults.js";
import { laterFeatures } from "../../src/config/later-features.js";
import { validateConfiguration } from "../../src/config/validate.js";
import { isErrorKind } from "../../src/error/errors.js";
import { configurationWith, faultLines } from "./faults-of.js";

const secret = "hunter2-In-The-Clear";

test.each([
  [{ delivery: { bach_size: 10 } }, 'delivery.bach_size: unknown key; did you mean "batch_size"?'],
  [{ delivery: { in_progress: { intervall_ms: 10 } } }, 'delivery.in_progress.intervall_ms: unknown key; did you mean "interval_ms"?'],
  [{ delivry: {} }, 'delivry: unknown key; did you mean "delivery"?'],
  [{ nats: { ack_wait_seconds: 3 } }, 'nats.ack_wait_seconds: unknown key; did you mean "consumer_management.ack_wait_seconds"?'],
  [{ nats: { entirely_other: 3 } }, "nats.entirely_other: unknown key; remove it"],
  [
    { message_metadata: { rules: [{ subject: "a", priorty: "x", priority: "y" }] } },
    'message_metadata.rules[0].priorty: unknown key; did you mean "priority"?',
  ],
])("FW-CFG-01 an unknown key fails with its path and the nearest name (%#)", (patch, line) => {
  expect(faultLines(patch)).toEqual([line]);
});

test.each([
  [{ delivery: { batch_size: "10" } }, "delivery.batch_size: wrong type; expected a whole number from 1 to 10000"],
  [{ delivery: { batch_size: 1.5 } }, "delivery.batch_size: wrong type; expected a whole number from 1 to 10000"],
  [{ delivery: { batch_size: 0 } }, "delivery.batch_size: too small; expected a whole number from 1 to 10000"],
  [{ delivery: { batch_size: 10_001 } }, "delivery.batch_size: too large; expected a whole number from 1 to 10000"],
  [{ delivery: { retry_backoff_multiplier: Number.NaN } }, "delivery.retry_backoff_multiplier: wrong type; expected a number from 1 to 10"],
  [{ nats: { durable: "true" } }, "nats.durable: wrong type; expected true or false"],
  [{ nats: { stream: undefined } }, "nats.stream: required key is missing; expected text of up to 255 characters"],
  [{ nats: { stream: "a.b" } }, "nats.stream: must not contain spaces, control characters or any of . * > / \\"],
  [{ nats: { subject: "events.>.x" } }, "nats.subject: must be a subject: tokens between dots, `*` for one token, `>` last for the rest"],
  [{ nats: 5 }, "nats: wrong type; expected a section with keys"],
  [{ delivery: null }, "delivery: wrong type; expected a section with keys"],
  [{ delivery: { ordering: "stric" } }, "delivery.ordering: not an allowed value; expected one of none, per_key, strict or null"],
  [{ delivery: { ack_policy: "before" } }, "delivery.ack_policy: not an allowed value; expected after_sink_commit"],
  [{ nats: { urls: ["nats://a", 5] } }, "nats.urls[1]: wrong type; expected text of up to 2048 characters"],
  [
    { consumer_management: { backoff_seconds: [] } },
    "consumer_management.backoff_seconds: too few entries; expected a list of up to 128 entries or null",
  ],
  [
    { consumer_management: { ack_wait_seconds: 0 } },
    "consumer_management.ack_wait_seconds: too small; expected a number above 0, up to 86400 or null",
  ],
  [
    { message_metadata: { labels: { default: ["a;b"] } } },
    "message_metadata.labels.default[0]: must not contain `;`; give each label an entry of its own",
  ],
  [
    { message_metadata: { labels: { default: 5 } } },
    "message_metadata.labels.default: wrong type; expected text or a list of up to 256 entries or null",
  ],
  [
    { sinks: { "0bad": { type: "file" } } },
    "sinks.0bad: wrong name: must begin with a letter and have up to 128 letters, digits or _ . : -",
  ],
  [{ encryption: { tag_length: 5 } }, "encryption.tag_length: not an allowed value; expected one of 4, 6, 8, 10, 12, 14, 16"],
  [{ nats: { password_env: "1X", user: "bob" } }, "nats.password_env: must be the name of an environment variable"],
  [{ sink: { type: undefined } }, "sink.type: required key is missing; expected text"],
])("FW-CFG-02 FW-CFG-03 types are strict, and a fault has path, rule and expected kind (%#)", (patch, line) => {
  expect(faultLines(patch)).toEqual([line]);
});

test("FW-CFG-03 one error lists every fault of every section, rules between keys among them", () => {
  const raw = configurationWith({
    delivery: { bach_size: 10 },
    dead_letter: { enabled: true },
    nats: { domain: "a", api_prefix: "b" },
    advisories: { enabled: true },
    logging: { level: "LOUD", format: "xml" },
  });
  const error = caught(() => validateConfiguration(raw));
  const faults = configurationFaults(error);
  expect(faults.map(({ path }) => path).sort()).toEqual([
    "advisories.enabled",
    "dead_letter.subject",
    "delivery.bach_size",
    "logging.format",
    "logging.level",
    "nats.api_prefix",
  ]);
  expect((error as Error).message.split("\n")).toHaveLength(faults.length);
  expect(isErrorKind(error, "ConfigurationError") && error.code).toBe("configuration_invalid");
});

test("FW-CFG-03 no fault shows a received value, least of all a secret near it", () => {
  const raws = [
    configurationWith({ nats: { user: "bob", password: secret }, delivery: { bach_size: secret } }),
    configurationWith({ nats: { user: "bob", password: secret, password_env: secret, token: secret } }),
    configurationWith({ nats: { url: `nats://bob:${secret}@host` } }),
    configurationWith({ nats: { url: secret, urls: [secret], stream: `${secret} .`, websocket_headers: { Authorization: secret } } }),
    configurationWith({ encryption: { key_b64: secret, rules: [{ subject: secret, key_b64: secret, enabled: secret }] } }),
    configurationWith({ delivery: { ordering: secret, order_key: secret, ack_policy: secret, batch_size: secret } }),
    configurationWith({ nats: secret, sink: secret, sinks: [secret] }),
    configurationWith({ message_metadata: { rules: [{ subject: "a", labels: [`${secret};`] }] } }),
  ];
  for (const raw of raws) {
    const error = caught(() => validateConfiguration(raw)) as Error;
    expect(configurationFaults(error).length).toBeGreaterThan(0);
    expect(
      `${error.message}\n${inspect(error, { depth: 10, showHidden: true })}\n${JSON.stringify(configurationFaults(error))}`,
    ).not.toContain(secret);
  }
});

test("FW-CFG-02 the root must be an object", () => {
  for (const raw of [null, undefined, [], "text", 5]) {
    expect(configurationFaults(caught(() => validateConfiguration(raw))).map(({ path }) => path)).toEqual(["configuration"]);
  }
});

test.each([
  ["push_consumer.enabled", { push_consumer: { enabled: true } }],
  ["delivery.priority_lanes.enabled", { delivery: { priority_lanes: { enabled: true } } }],
  ["mission_metadata.enabled", { mission_metadata: { enabled: true } }],
  ["security_labels.enabled", { security_labels: { enabled: true } }],
  ["advisories.enabled", { advisories: { enabled: true } }],
  ["sinks", { sinks: { one: { type: "file" } } }],
  ["sink.type", { sink: { type: "fanout" } }],
  ["encryption.enabled", { encryption: { enabled: true } }],
  ["encryption.rules", { encryption: { rules: [{ subject: "a" }] } }],
  ["message_authenticity.enabled", { message_authenticity: { enabled: true } }],
  ["custody.enabled", { custody: { enabled: true } }],
  ["pre_sink_policy.enabled", { pre_sink_policy: { enabled: true, rules: [{ require_priority: true }] } }],
  ["nats.url", { nats: { url: "wss://host" } }],
  ["nats.urls", { nats: { urls: ["ws://host"] } }],
])("FW-CFG %s, whose feature comes later, is refused by name and never ignored", (path, patch) => {
  const error = caught(() => validateConfiguration(configurationWith(patch)));
  expect(configurationFaults(error)).toMatchObject([{ path, message: "this feature is not part of this release", code: "not_supported" }]);
  expect(isErrorKind(error, "ConfigurationError") && error.code).toBe("not_supported");
});

test("FW-CFG every feature that comes later has a row in the test above, apart from routing", () => {
  expect(laterFeatures).toHaveLength(14 + 1);
});

test("FW-RTE-06 routing without a fan-out sink is refused, not inert", () => {
  expect(faultLines({ routing: { enabled: true } })).toContain(
    "routing.enabled: needs a fan-out sink; set it to false; routing has no effect on one destination",
  );
});

function caught(call: () => unknown): unknown {
  try {
    call();
  } catch (error) {
    return error;
  }
  return undefined;
}
