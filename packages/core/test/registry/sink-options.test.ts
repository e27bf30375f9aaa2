import { inspect } from "node:util";
import { expect, test } from "vitest";
import { z } from "zod";
import { faultLine } from "../../src/config/faults.js";
import { loadConfiguration } from "../../src/config/load.js";
import { defineConnector } from "../../src/connector/define-connector.js";
import { type Secret, secretOption } from "../../src/option/secret.js";
import { createRegistry } from "../../src/registry/registry.js";
import { resolveSinkOptions } from "../../src/registry/sink-options.js";
import { configurationWith, faultsOf } from "../config/faults-of.js";

const connector = defineConnector({
  name: "demo",
  apiVersion: "1",
  summary: "Keeps messages.",
  options: z.strictObject({
    directory: z.string().min(1),
    compression_level: z.int().min(0).max(9).default(6),
    fsync: z.boolean().default(true),
    tls: z.strictObject({ verify: z.boolean().default(true) }).prefault({}),
    ...secretOption("url", "Address."),
  }),
  create: () => {
    throw new Error("not used");
  },
});

const sink = (keys: Record<string, unknown>) => ({ sink: { type: "demo", ...keys } });
const lines = async (keys: Record<string, unknown>, environment?: Record<string, string>) =>
  (await faultsOf(() => resolveSinkOptions(sink(keys), connector, environment))).map(faultLine);

test("FW-REG-02 the connector's schema fills defaults; `type` is not one of its keys", () => {
  expect(resolveSinkOptions(sink({ directory: "out" }), connector)).toEqual({
    directory: "out",
    compression_level: 6,
    fsync: true,
    tls: { verify: true },
    url: null,
    url_env: null,
  });
});

test("FW-CFG-01 FW-CFG-03 faults of the sink have the same form, under sink., all at once, without values", async () => {
  expect(await lines({ direktory: "hunter2", compression_level: 10, fsync: "hunter2", tls: { verfy: true } })).toEqual([
    "sink.directory: required key is missing; expected text",
    "sink.compression_level: too large; expected a whole number from 0 to 9",
    "sink.fsync: wrong type; expected true or false",
    'sink.tls.verfy: unknown key; did you mean "verify"?',
    'sink.direktory: unknown key; did you mean "directory"?',
  ]);
});

test("FW-CFG-04 secrets of the sink: not both, read with an environment only, missing ones named", async () => {
  expect(await lines({ directory: "out", url: "hunter2", url_env: "URL" })).toEqual([
    "sink.url: must not stand beside url_env; keep one of the two, best url_env",
  ]);
  expect(resolveSinkOptions(sink({ directory: "out", url_env: "URL" }), connector).url).toBeNull();
  const options = resolveSinkOptions(sink({ directory: "out", url_env: "URL" }), connector, { URL: "hunter2" });
  expect((options.url as Secret).reveal()).toBe("hunter2");
  expect(inspect(options, { depth: 9, showHidden: true })).not.toContain("hunter2");
  expect(await lines({ directory: "out", url_env: "URL" }, {})).toEqual([
    "sink.url_env: the environment variable URL is not set; set it to the secret",
  ]);
});

test("FW-CFG-05 overrides of the sink take the type that the connector declares", async () => {
  const options = async (set: string[]) => {
    const loaded = await loadConfiguration({
      text: JSON.stringify(configurationWith(sink({ directory: "out" }))),
      format: "json",
      environment: { SINKS__SINK__DIRECTORY: "/data" },
      set,
    });
    return resolveSinkOptions(loaded.configuration, connector);
  };
  expect(await options(["sink.compression_level=3", "sink.fsync=false", "sink.tls.verify=no", "sink.url=hunter2"])).toMatchObject({
    directory: "/data",
    compression_level: 3,
    fsync: false,
    tls: { verify: false },
  });
  expect((await faultsOf(() => options(["sink.fsync=hunter2", "sink.fsnc=hunter2"]))).map(faultLine)).toEqual([
    "sink.fsync: the override --set expected true or false; correct or remove it",
  ]);
  expect((await faultsOf(() => options(["sink.fsnc=hunter2"]))).map(faultLine)).toEqual(['sink.fsnc: unknown key; did you mean "fsync"?']);
});

test("FW-CFG-01 a schema that would drop unknown keys refuses them all the same", async () => {
  const loose = defineConnector({ ...connector, name: "loose", options: z.object({ directory: z.string() }) });
  const found = await faultsOf(() => resolveSinkOptions(sink({ directory: "out", directry: 1 }), loose));
  expect(found.map(faultLine)).toEqual(['sink.directry: unknown key; did you mean "directory"?']);
});

test("FW-REG-03 a registry refuses duplicate names, non-descriptors and built-in names of third parties", () => {
  expect(createRegistry([connector]).get("demo")).toBe(connector);
  expect(createRegistry([connector]).names).toEqual(["demo"]);
  expect(() => createRegistry([connector, connector])).toThrow("two connectors named demo");
  expect(() => createRegistry([{ ...connector }])).toThrow("not a connector");
  expect(() => createRegistry([defineConnector({ ...connector, name: "postgres" })])).toThrow(
    "the name postgres belongs to @sinks/postgres",
  );
  expect(createRegistry([defineConnector({ ...connector, name: "postgres", status: "production" })]).has("postgres")).toBe(true);
  expect(() => createRegistry([connector]).get("dem")).toThrow('did you mean "demo"?');
});
