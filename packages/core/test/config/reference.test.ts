import { expect, test } from "vitest";
import { parse } from "yaml";
import { z } from "zod";
import { configurationJsonSchema, connectorJsonSchema, type JsonSchema } from "../../src/config/json-schema.js";
import { loadConfiguration } from "../../src/config/load.js";
import { configurationReference, errorReference } from "../../src/config/reference.js";
import { referenceRows } from "../../src/config/reference-table.js";
import { starterConfiguration } from "../../src/config/starter.js";
import { defineConnector } from "../../src/connector/define-connector.js";
import { errorCodes } from "../../src/error/codes.js";
import { secretOption } from "../../src/option/secret.js";

const connector = defineConnector({
  name: "demo",
  apiVersion: "1",
  summary: "Keeps messages.",
  options: z.strictObject({
    directory: z.string().min(1).describe("Folder that receives the files."),
    mode: z.enum(["one", "many"]).default("one").describe("How | many."),
    tls: z
      .strictObject({ verify: z.boolean().default(true).describe("Verify.") })
      .prefault({})
      .describe("TLS."),
    ...secretOption("url", "Address."),
  }),
  create: () => {
    throw new Error("not used");
  },
});

const sections = configurationJsonSchema([]).properties ?? {};

function leaves(schema: JsonSchema, path: string): { path: string; schema: JsonSchema }[] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, member]) => [
    { path: `${path}.${name}`, schema: member },
    ...leaves(member, `${path}.${name}`),
    ...leaves(member.items ?? {}, `${path}.${name}[]`),
  ]);
}

test("FW-REG-02 every key of every section has a sentence", () => {
  const all = leaves({ properties: sections }, "").filter(({ path }) => !/^\.security_labels\.(default|rules)/.test(path));
  expect(all.length).toBeGreaterThan(200);
  for (const { path, schema } of all) expect(schema.description, path).toMatch(/^.{4,}[.]$/s);
});

test("FW-CFG-02 the JSON Schema refuses unknown keys and knows types, ranges and defaults", () => {
  expect(sections["delivery"]).toMatchObject({
    additionalProperties: false,
    properties: {
      batch_size: { type: "integer", minimum: 1, maximum: 10_000, default: 1000 },
      retry_jitter: { enum: ["none", "full", "equal"] },
    },
  });
  expect(configurationJsonSchema([]).required).toEqual(["nats", "sink"]);
  expect(sections["nats"]?.required).toEqual(["stream", "consumer", "subject"]);
  expect(sections["nats"]?.properties?.["password"]).toMatchObject({ writeOnly: true, default: null });
});

test("FW-REG-02 the sink of the JSON Schema is one of the connectors given, with the keys of its own schema", () => {
  const sink = configurationJsonSchema([connector]).properties?.["sink"] as JsonSchema;
  expect(sink.oneOf).toHaveLength(1);
  expect(sink.oneOf?.[0]).toMatchObject({
    required: ["type", "directory"],
    additionalProperties: false,
    properties: { type: { const: "demo" }, mode: { default: "one" } },
  });
  expect(connectorJsonSchema(connector)).toMatchObject({ title: "demo", required: ["directory"] });
});

test("FW-REG-02 rows carry key, default, kind and description; nested keys and lists have paths", () => {
  expect(referenceRows(connectorJsonSchema(connector))).toEqual([
    { key: "directory", standard: "required", kind: "text", description: "Folder that receives the files." },
    { key: "mode", standard: '`"one"`', kind: "one of one, many", description: "How | many." },
    { key: "tls.verify", standard: "`true`", kind: "true or false", description: "Verify." },
    { key: "url", standard: "`null`", kind: "text or null", description: "Address." },
    { key: "url_env", standard: "`null`", kind: "text or null", description: "Environment variable that holds `url`; use one of the two." },
  ]);
  const keys = referenceRows(sections["message_metadata"] as JsonSchema).map(({ key }) => key);
  expect(keys).toEqual(expect.arrayContaining(["priority.header", "rules", "rules[].subject"]));
});

test("FW-CFG the reference has every section, every connector, the overrides and what comes later", () => {
  const text = configurationReference([connector]);
  for (const name of Object.keys(sections)) expect(text).toContain(`\n## \`${name}\`\n`);
  expect(text).toContain("### Connector `demo`");
  expect(text).toContain("How \\| many.");
  expect(text).toContain("| `NATS_SINKS_LOG_LEVEL` | `logging.level` |");
  expect(text).toContain("| key | refused value |\n| --- | --- |\n");
  expect(text).toContain("| `encryption.enabled` | true |");
});

test("FW-ERR-01 the error reference has every code with its sentence", () => {
  const text = errorReference();
  for (const [code, sentence] of Object.entries(errorCodes)) expect(text).toContain(`| \`${code}\` | ${sentence} |`);
});

test("FW-CLI the starter configuration is valid as it is, with required keys active", async () => {
  const text = starterConfiguration(connector);
  expect(parse(text)).toEqual({
    nats: { url: "nats://localhost:4222", stream: "EVENTS", consumer: "sink", subject: "events.>" },
    sink: { type: "demo", directory: "change-me" },
  });
  await expect(loadConfiguration({ text, format: "yaml", environment: {} })).resolves.toMatchObject({ notices: [] });
});

test("FW-CLI every commented key of the starter can be uncommented and says its default", async () => {
  const text = starterConfiguration(connector);
  const uncommented = text
    .split("\n")
    .map((line) => (/^\s*# (\s*)(# )?[a-z_0-9]+:( .*)?$/.test(line) ? line.replace("# ", "") : line))
    .join("\n");
  expect(Object.keys(parse(uncommented) as object).length).toBeGreaterThan(5);
  const plain = await loadConfiguration({ text, format: "yaml", environment: {} });
  const full = await loadConfiguration({ text: uncommented, format: "yaml", environment: {} });
  expect({ ...full.configuration, sink: null }).toEqual({ ...plain.configuration, sink: null });
  expect(full.configuration.sink).toMatchObject({ mode: "one", tls: { verify: true } });
});
