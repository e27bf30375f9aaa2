import { describe, expect, it } from "vitest";
import { decideIsolationStep } from "../src/execute/isolation-step.js";

describe("the decision", () => {
  const facts = { single: false, inTransactions: false, halving: false, planRenewed: false, timedOutElsewhere: false };
  const failure = (course: string) => ({ course, failure: null, form: null, culprits: null, payloads: null, maybeApplied: false }) as never;

  it.each([
    ["isolate", {}, "split"],
    ["isolate", { single: true }, "verdict"],
    ["denied", {}, "split"],
    ["parent_missing", { single: true }, "verdict"],
    ["repeated_key", {}, "halve"],
    ["repeated_key", { halving: true }, "split"],
    ["repeat", {}, "transactions"],
    ["repeat", { inTransactions: true }, "split"],
    ["repeat", { inTransactions: true, single: true }, "verdict"],
    ["timed_out", {}, "transactions"],
    ["timed_out", { inTransactions: true }, "split"],
    ["timed_out", { inTransactions: true, timedOutElsewhere: true }, "leave"],
    ["stale_plan", {}, "transactions"],
    ["stale_plan", { inTransactions: true }, "again"],
    ["stale_plan", { inTransactions: true, planRenewed: true }, "split"],
    ["lost", {}, "leave"],
    ["unavailable", {}, "leave"],
    ["credentials", {}, "leave"],
    ["schema", {}, "leave"],
  ])("WO-PG-27 WO-PG-28 WO-PG-29 %s %o: %s", (course, given, step) => {
    expect(decideIsolationStep(failure(course), { ...facts, ...given })).toBe(step);
  });
});
