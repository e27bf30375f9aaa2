import { expect, test } from "vitest";
import { counted } from "../../src/runner/counted.js";

test.each([
  [0, "0 messages are held"],
  [1, "1 message is held"],
  [2, "2 messages are held"],
  [1n, "1 message is held"],
])("FW-OBS-03 %s is told in its number", (count, text) => {
  expect(counted(count, "message is held", "messages are held")).toBe(text);
});
