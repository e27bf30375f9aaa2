import { expect, test } from "vitest";
import { RepeatedWarning } from "../../src/runner/repeated-warning.js";

test("FW-RUN-32 a wait is told at once, then every five seconds, and at once again when its reason changes", () => {
  const warning = new RepeatedWarning();
  const told = [0, 100, 2000, 4999, 5000, 9999, 10_000].filter((now) => warning.isDue("no server", now));
  expect(told).toEqual([0, 5000, 10_000]);
  expect(warning.isDue("login refused", 10_001)).toBe(true);
  expect(warning.isDue("login refused", 10_002)).toBe(false);
});
