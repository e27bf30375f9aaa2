import { describe, expect, test } from "vitest";
import { summaryLine, tally } from "./tally.mjs";
import { verdict, vitestArguments } from "./verdict.mjs";

const testCase = (fullName, state, note) => ({ fullName, result: () => ({ state, note }) });

function moduleOf(tests, { errors = [], suites = [] } = {}) {
  return {
    project: { name: "core unit" },
    relativeModuleId: "test/a.test.ts",
    errors: () => errors,
    children: { allTests: () => tests, allSuites: () => suites },
  };
}

describe("tally", () => {
  test("counts each state, with the reason of a skip", () => {
    const found = tally([moduleOf([testCase("a", "passed"), testCase("b", "failed"), testCase("c", "skipped", "needs root: mounts")])]);
    expect(found).toEqual({
      passed: 1,
      failed: 1,
      skipped: 1,
      failures: ["core unit › test/a.test.ts › b"],
      skips: [{ name: "core unit › test/a.test.ts › c", reason: "needs root: mounts", allowed: true }],
    });
  });

  test("a file that does not load, a group's own failure, a test that never ended and a stray error each count as failed", () => {
    const broken = moduleOf([], { errors: [{ message: "cannot load" }] });
    const group = moduleOf([testCase("a", "skipped")], { suites: [{ fullName: "g", errors: () => [{ message: "hook" }] }] });
    const endless = moduleOf([testCase("a", "pending")]);
    expect(tally([broken, group, endless], [{ message: "unhandled" }]).failed).toBe(4);
  });

  test("a skip without a reason, or for want of a server, is not an allowed one", () => {
    const { skips } = tally([moduleOf([testCase("a", "skipped"), testCase("b", "skipped", "needs a nats-server")])]);
    expect(skips.map(({ allowed }) => allowed)).toEqual([false, false]);
  });

  test("the last line has the promised form", () => {
    expect(summaryLine({ passed: 12, failed: 0, skipped: 3 })).toBe("12 passed, 0 failed, 3 skipped");
  });
});

describe("verdict", () => {
  const clean = { passed: 2, failed: 0, skipped: 0, failures: [], skips: [] };
  const skipping = { ...clean, skipped: 1, skips: [{ name: "x", reason: "needs a nats-server", allowed: false }] };

  test("is good only when everything passed and the runner itself ended well", () => {
    expect(verdict(clean, 0, true).exitCode).toBe(0);
    expect(verdict({ ...clean, failed: 1, failures: ["x"] }, 1, false).exitCode).toBe(1);
  });

  test.each([
    ["the runner crashed after the tally", clean, 1],
    ["there is no tally", null, 0],
    ["no test ran", { ...clean, passed: 0 }, 0],
  ])("counts a failure when %s", (_what, found, code) => {
    const result = verdict(found, code, false);
    expect([result.exitCode, result.tally.failed]).toEqual([1, 1]);
  });

  test("in CI a skip that is not allowed fails the run, elsewhere it is only named", () => {
    expect(verdict(skipping, 0, true).exitCode).toBe(1);
    expect(verdict(skipping, 0, false)).toMatchObject({ exitCode: 0, lines: ["skipped: x: needs a nats-server"] });
    const allowed = { ...skipping, skips: [{ name: "x", reason: "needs root: mounts", allowed: true }] };
    expect(verdict(allowed, 0, true).exitCode).toBe(0);
  });
});

test("vitestArguments turns kinds into project filters and hands on the rest", () => {
  expect(vitestArguments(["unit", "fault", "lanes"]).slice(3)).toEqual(["--project=* unit", "--project=* fault", "lanes"]);
  expect(vitestArguments([])).toHaveLength(3);
});
