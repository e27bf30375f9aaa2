import fc from "fast-check";
import { expect, test } from "vitest";
import { faultLine } from "../../src/config/faults.js";
import { loadConfiguration, type Setting } from "../../src/config/load.js";
import { namedOverrides } from "../../src/config/override-names.js";
import { convertText } from "../../src/config/override-text.js";
import { configurationSections } from "../../src/config/schema.js";
import { schemaAt } from "../../src/config/schema-walk.js";
import { isUntypedText } from "../../src/config/untyped-text.js";
import { configurationWith, faultsOf } from "./faults-of.js";

const request = (environment: Record<string, string>, set: readonly Setting[] = [], patch: Record<string, unknown> = {}) => ({
  text: JSON.stringify(configurationWith(patch)),
  format: "json" as const,
  environment,
  set,
});
const load = (environment: Record<string, string>, set: readonly Setting[] = [], patch: Record<string, unknown> = {}) =>
  loadConfiguration(request(environment, set, patch));
const lines = async (environment: Record<string, string>, set: readonly Setting[] = [], patch: Record<string, unknown> = {}) =>
  (await faultsOf(() => load(environment, set, patch))).map(faultLine);

/** The list of FW-CFG-05, each with a text, its key and the value it must give. */
const named: readonly (readonly [string, string, string, unknown])[] = [
  ["NATS_URL", "tls://host", "nats.url", "tls://host"],
  ["NATS_STREAM", "S", "nats.stream", "S"],
  ["NATS_CONSUMER", "C", "nats.consumer", "C"],
  ["NATS_SUBJECT", "a.>", "nats.subject", "a.>"],
  ["NATS_NO_ECHO", "true", "nats.no_echo", true],
  ["CONSUMER_MANAGEMENT_MODE", "bind_only", "consumer_management.mode", "bind_only"],
  ["LOG_LEVEL", "debug", "logging.level", "DEBUG"],
  ["ENCRYPTION_ENABLED", "false", "encryption.enabled", false],
  ["ENCRYPTION_ALGORITHM", "aes-256-ccm", "encryption.algorithm", "aes-256-ccm"],
  ["ENCRYPTION_KEY_ID", "k", "encryption.key_id", "k"],
  ["ENCRYPTION_KEY_B64_ENV", "KEY", "encryption.key_b64_env", "KEY"],
  ["MESSAGE_AUTHENTICITY_ENABLED", "0", "message_authenticity.enabled", false],
  ["MESSAGE_AUTHENTICITY_SIGNATURE_HEADER", "A", "message_authenticity.signature_header", "A"],
  ["MESSAGE_AUTHENTICITY_ALGORITHM_HEADER", "B", "message_authenticity.algorithm_header", "B"],
  ["MESSAGE_AUTHENTICITY_KEY_ID_HEADER", "C", "message_authenticity.key_id_header", "C"],
  ["PRIORITY_HEADER", "X", "message_metadata.priority.header", "X"],
  ["PRIORITY_DEFAULT", "low", "message_metadata.priority.default", "low"],
  ["CLASSIFICATION_HEADER", "X", "message_metadata.classification.header", "X"],
  ["CLASSIFICATION_DEFAULT", "open", "message_metadata.classification.default", "open"],
  ["LABELS_HEADER", "X", "message_metadata.labels.header", "X"],
  ["LABELS_DEFAULT", "blue; green", "message_metadata.labels.default", ["blue", "green"]],
  ["MISSION_METADATA_ENABLED", "false", "mission_metadata.enabled", false],
  ["MISSION_METADATA_HEADER", "X", "mission_metadata.header", "X"],
  ["SECURITY_LABELS_ENABLED", "false", "security_labels.enabled", false],
  ["SECURITY_LABELS_HEADER", "X", "security_labels.header", "X"],
  ["CUSTODY_ENABLED", "false", "custody.enabled", false],
  ["CUSTODY_ALGORITHM", "sha512", "custody.algorithm", "sha512"],
  ["CUSTODY_KEY_ID", "k", "custody.key_id", "k"],
  ["ADVISORIES_ENABLED", "false", "advisories.enabled", false],
  ["SINK_TYPE", "redis", "sink.type", "redis"],
];

const at = (root: unknown, path: string) => path.split(".").reduce<unknown>((value, key) => (value as Record<string, unknown>)[key], root);

test.each(named)("FW-CFG-05 NATS_SINKS_%s=%s overrides %s", async (name, text, path, value) => {
  const { configuration, notices } = await load({ [`NATS_SINKS_${name}`]: text });
  expect(at(configuration, path)).toEqual(value);
  expect(notices).toEqual([]);
});

test("FW-CFG-05 the list of names is complete and each leads to a key", () => {
  expect([...namedOverrides.keys()].sort()).toEqual(named.map(([name]) => `NATS_SINKS_${name}`).sort());
  for (const path of namedOverrides.values()) expect(schemaAt(configurationSections, path), path.join(".")).not.toBeNull();
});

test.each([
  ["SINKS__DELIVERY__BATCH_SIZE", "500", "delivery.batch_size", 500],
  ["SINKS__DELIVERY__IN_PROGRESS__MAX_HEARTBEATS", "3", "delivery.in_progress.max_heartbeats", 3],
  ["SINKS__DELIVERY__RETRY_BACKOFF_MULTIPLIER", "1.5", "delivery.retry_backoff_multiplier", 1.5],
  ["SINKS__CONSUMER_MANAGEMENT__MAX_DELIVER", "null", "consumer_management.max_deliver", null],
  ["SINKS__NATS__MAX_RECONNECT_ATTEMPTS", "-1", "nats.max_reconnect_attempts", -1],
  ["SINKS__NATS__DURABLE", "no", "nats.durable", false],
  ["SINKS__ENCRYPTION__TAG_LENGTH", "12", "encryption.tag_length", 12],
  ["SINKS__NAME", "orders", "name", "orders"],
])("FW-CFG-05 %s=%s overrides %s by its declared type", async (name, text, path, value) => {
  expect(at((await load({ [name]: text })).configuration, path)).toEqual(value);
});

test("FW-CFG-05 unknown names with the prefixes warn, with the nearest one, and change nothing", async () => {
  const { notices, configuration } = await load({
    NATS_SINKS_NATS_ULR: "x",
    SINKS__DELIVERY__BACH_SIZE: "1",
    SINKS__: "x",
    SINKS__NATS__URLS__0: "x",
    SINKS_CONFIG: "x",
    OTHER: "x",
  });
  expect(notices).toEqual([
    "NATS_SINKS_NATS_ULR: unknown override; the variable is ignored; did you mean NATS_SINKS_NATS_URL?",
    "SINKS__: no key of the configuration has this name; the variable is ignored",
    "SINKS__DELIVERY__BACH_SIZE: no key of the configuration has this name; the variable is ignored",
    "SINKS__NATS__URLS__0: no key of the configuration has this name; the variable is ignored",
  ]);
  expect(configuration).toEqual((await load({})).configuration);
});

test("FW-CFG-05 a variable that the configuration names for a secret is no override and no warning", async () => {
  const patch = { nats: { user: "bob", password_env: "NATS_SINKS_PASSWORD" }, sink: { password_env: "NATS_SINKS_OTHER" } };
  expect((await load({ NATS_SINKS_PASSWORD: "x", NATS_SINKS_OTHER: "y" }, [], patch)).notices).toEqual([]);
});

test("FW-CFG-05 --set overrides the environment, which overrides the file", async () => {
  const environment = { SINKS__DELIVERY__BATCH_SIZE: "20" };
  const size = async (...args: Parameters<typeof load>) => (await load(...args)).configuration.delivery.batch_size;
  const patch = { delivery: { batch_size: 10 } };
  expect([
    await size({}, [], patch),
    await size(environment, [], patch),
    await size(environment, ["delivery.batch_size=30"], patch),
  ]).toEqual([10, 20, 30]);
  expect(await size({}, [{ path: "delivery.batch_size", value: "40" }])).toBe(40);
});

test.each([
  ["delivery.bach_size=1", 'delivery.bach_size: unknown key; did you mean "batch_size"?'],
  ["delivry.batch_size=1", 'delivry: unknown key; did you mean "delivery"?'],
  ["delivery.batch_size.more=1", "delivery.batch_size.more: unknown key; remove it"],
  ["delivery.batch_size=many", "delivery.batch_size: the override --set expected a number; correct or remove it"],
  ["delivery.batch_size=0", "delivery.batch_size: too small; expected a whole number from 1 to 10000"],
  ["nats.urls=nats://a", "nats.urls: the override --set has no form as a single text; correct or remove it"],
  ["nats.durable=maybe", "nats.durable: the override --set expected true or false; correct or remove it"],
  ["hunter2", "--set: must have the form section.key=value; for example --set delivery.batch_size=500"],
  ["=hunter2", "--set: must have the form section.key=value; for example --set delivery.batch_size=500"],
])("FW-CFG-05 --set %s is refused in one line without the value", async (setting, line) => {
  expect(await lines({}, [setting])).toEqual([line]);
});

test("FW-CFG-05 an override of the sink keeps its text until the connector gives it a type, and does not print it", async () => {
  const { configuration } = await load({ SINKS__SINK__DIRECTORY: "hunter2" }, ["sink.fsync=false"]);
  const directory = configuration.sink["directory"];
  expect(isUntypedText(directory) && [directory.reveal(), directory.source]).toEqual(["hunter2", "SINKS__SINK__DIRECTORY"]);
  expect(JSON.stringify(configuration)).not.toContain("hunter2");
});

test("FW-CFG-02 numbers and truth values survive the way through text, whatever they are", () => {
  const number = schemaAt(configurationSections, ["delivery", "retry_backoff_multiplier"]);
  const truth = schemaAt(configurationSections, ["nats", "durable"]);
  const text = schemaAt(configurationSections, ["nats", "stream"]);
  if (number === null || truth === null || text === null) throw new Error("the schema has no such key");
  const keeps = (value: unknown, schema: typeof text, expected: unknown = value) => {
    expect(convertText(String(value), schema)).toEqual({ value: expected });
  };
  fc.assert(fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (value) => keeps(value, number, Number(String(value)))));
  fc.assert(fc.property(fc.boolean(), (value) => keeps(value, truth)));
  fc.assert(fc.property(fc.string(), (value) => keeps(value, text)));
  fc.assert(
    fc.property(fc.string(), (value) => {
      const result = convertText(value, number);
      if ("value" in result) expect(Number.isFinite(result.value)).toBe(true);
    }),
  );
});

test.each(["", " ", "0x10", "1_000", "1,5", "Infinity", "NaN", "1e999", "--1", "1 2"])("FW-CFG-02 %j is no number", (text) => {
  const number = schemaAt(configurationSections, ["delivery", "batch_size"]);
  if (number === null) throw new Error("the schema has no such key");
  expect(convertText(text, number)).toEqual({ fault: "expected a number" });
});
