import { expect, test } from "vitest";
import { configurationSchema } from "../../src/config/schema.js";

const least = { nats: { stream: "EVENTS", consumer: "sink", subject: "events.>" }, sink: { type: "file", directory: "out" } };

test("FW-CFG-07..16 the least configuration has every section with its defaults", () => {
  expect(configurationSchema.parse(least)).toMatchSnapshot();
});

test("FW-CFG parsing a parsed configuration changes nothing", () => {
  const once = configurationSchema.parse(least);
  expect(configurationSchema.parse(once)).toEqual(once);
});
