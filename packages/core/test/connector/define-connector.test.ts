import { expect, test } from "vitest";
import { z } from "zod";
import { type ConnectorDefinition, defineConnector, isConnector } from "../../src/connector/define-connector.js";
import { isSinksError } from "../../src/error/errors.js";

const options = z.strictObject({ directory: z.string() });
const definition: ConnectorDefinition<typeof options> = {
  name: "demo",
  apiVersion: "1",
  summary: "Keeps messages.",
  options,
  create: () => ({ start: async () => undefined, writeBatch: async () => undefined, stop: async () => undefined }),
};

test("FW-REG-01 a definition becomes a frozen, branded descriptor with its defaults", () => {
  const connector = defineConnector(definition);
  expect(isConnector(connector)).toBe(true);
  expect(isConnector({ ...connector })).toBe(false);
  expect(Object.isFrozen(connector)).toBe(true);
  expect(connector).toMatchObject({ name: "demo", status: "third_party", productionReady: false, documentation: "", certification: [] });
  expect(connector.options).toBe(options);
  expect(connector.notices({ directory: "out" }, { writeMs: 600_000 })).toEqual([]);
});

test.each([
  ["name", { name: "Demo" }],
  ["name", { name: `a${"b".repeat(64)}` }],
  ["apiVersion", { apiVersion: "2" }],
  ["summary", { summary: "" }],
  ["summary", { summary: "x".repeat(501) }],
  ["status", { status: "done" }],
  ["documentation", { documentation: "x".repeat(256) }],
  ["certification", { certification: ["x".repeat(256)] }],
  ["certification", { certification: "all" }],
  ["productionReady", { productionReady: "yes" }],
  ["options", { options: {} }],
  ["options", { options: z.string() }],
  ["notices", { notices: [] }],
  ["create", { create: null }],
])("FW-REG-01 a wrong `%s` is refused by name", (key, change) => {
  const wrong = { ...definition, ...change } as unknown as ConnectorDefinition<typeof options>;
  expect(() => defineConnector(wrong)).toThrow(`\`${key}\` must`);
});

test("FW-REG-03 productionReady needs certification evidence", () => {
  expect(() => defineConnector({ ...definition, productionReady: true })).toThrow("needs `certification` evidence");
  expect(defineConnector({ ...definition, productionReady: true, certification: ["lifecycle"] }).productionReady).toBe(true);
});

test("FW-REG-01 the error is a ConfigurationError with its own code", () => {
  let caught: unknown;
  try {
    defineConnector({ ...definition, summary: "" });
  } catch (error) {
    caught = error;
  }
  expect(isSinksError(caught) && [caught.name, caught.code]).toEqual(["ConfigurationError", "connector_invalid"]);
});
