import { expect, test } from "vitest";
import { pipelineName } from "../../src/config/pipeline-name.js";
import { validateConfiguration } from "../../src/config/validate.js";
import { configurationWith } from "./faults-of.js";

test("FW-LED-01 a ledger knows a pipeline by its name, else by stream, consumer and sink", () => {
  const { name, nats } = validateConfiguration(configurationWith());
  const named = { stream: "ORDERS", consumer: "billing" };
  expect(pipelineName({ name, nats: { ...nats, ...named } }, "postgres")).toBe("ORDERS/billing/postgres");
  expect(pipelineName({ name: "bills", nats: { ...nats, ...named } }, "postgres")).toBe("bills");
});
