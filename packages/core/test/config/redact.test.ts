import { expect, test } from "vitest";
import { z } from "zod";
import { loadConfiguration } from "../../src/config/load.js";
import { redactedConfiguration } from "../../src/config/redact.js";
import { validateConfiguration } from "../../src/config/validate.js";
import { defineConnector } from "../../src/connector/define-connector.js";
import { secretOption } from "../../src/option/secret.js";
import { resolveSinkOptions } from "../../src/registry/sink-options.js";
import { configurationWith } from "./faults-of.js";

const connector = defineConnector({
  name: "demo",
  apiVersion: "1",
  summary: "Keeps messages.",
  options: z.strictObject({
    directory: z.string().describe("Folder."),
    token_count: z.int().default(3).describe("A number whose key sounds secret."),
    ...secretOption("url", "Address."),
    servers: z
      .array(z.strictObject({ ...secretOption("password", "Password.") }))
      .default([])
      .describe("Servers."),
  }),
  create: () => {
    throw new Error("not used");
  },
});

test("FW-CFG-04 secrets are redacted by the mark of their schema, names of variables and look-alikes are kept", () => {
  const configuration = validateConfiguration(
    configurationWith({
      nats: { user: "bob", password: "hunter2-a" },
      encryption: { key_b64: Buffer.alloc(32, 104).toString("base64") },
      sink: {
        type: "demo",
        directory: "/data",
        url: "demo://bob:hunter2-b@host",
        servers: [{ password: "hunter2-c" }, { password_env: "KIT_PASSWORD" }],
      },
    }),
  );
  const shown = redactedConfiguration(configuration, { schema: connector.options, options: resolveSinkOptions(configuration, connector) });
  const text = JSON.stringify(shown);
  expect(text).not.toContain("hunter2");
  expect(text).not.toContain("aGho");
  expect(shown["nats"]).toMatchObject({ user: "bob", password: "[redacted]", password_env: null, token: null, stream: "EVENTS" });
  expect(shown["sink"]).toEqual({
    type: "demo",
    directory: "/data",
    token_count: 3,
    url: "[redacted]",
    url_env: null,
    servers: [
      { password: "[redacted]", password_env: null },
      { password: null, password_env: "KIT_PASSWORD" },
    ],
  });
});

test("FW-CFG-04 a mark alone redacts, also where the value is no Secret", () => {
  const schema = z.strictObject({ key: z.string().meta({ "x-sinks-secret": true }) });
  const shown = redactedConfiguration(validateConfiguration(configurationWith()), { schema, options: { key: "hunter2" } });
  expect(shown["sink"]).toEqual({ type: "file", key: "[redacted]" });
});

test("FW-CFG-07 values of WebSocket headers are redacted, names and variables kept", () => {
  const configuration = { ...validateConfiguration(configurationWith()) };
  const nats = {
    ...configuration.nats,
    websocket_headers: { "X-Route": "hunter2" },
    websocket_headers_env: { Authorization: "WS_AUTHORIZATION" },
  };
  const shown = redactedConfiguration({ ...configuration, nats } as unknown as typeof configuration, null);
  expect(shown["nats"]).toMatchObject({
    websocket_headers: { "X-Route": "[redacted]" },
    websocket_headers_env: { Authorization: "WS_AUTHORIZATION" },
  });
});

test("FW-CFG-04 without the connector's schema nothing of the sink is shown but its type", () => {
  const configuration = validateConfiguration(configurationWith({ sink: { url: "hunter2", directory: "hunter2" } }));
  const shown = redactedConfiguration(configuration, null);
  expect(JSON.stringify(shown)).not.toContain("hunter2");
  expect(shown["sink"]).toMatchObject({ type: "file" });
});

test("FW-CLI-11 the effective configuration has every section and default, as plain JSON", async () => {
  const { configuration } = await loadConfiguration({ text: JSON.stringify(configurationWith()), format: "json", environment: {} });
  const shown = redactedConfiguration(configuration, null);
  expect(JSON.parse(JSON.stringify(shown))).toEqual(shown);
  expect(shown["delivery"]).toEqual(configuration.delivery);
  expect(Object.keys(shown).sort()).toEqual(Object.keys(configuration).sort());
});
