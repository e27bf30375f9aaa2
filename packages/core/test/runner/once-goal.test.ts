import { describe, expect, test } from "vitest";
import { type OnceFacts, onceProgress } from "../../src/runner/once-goal.js";

const facts: OnceFacts = {
  goal: 100,
  ackFloor: 0,
  pending: 0,
  ackPending: 0,
  unsettledHere: 0,
  heldHere: 0,
  delivered: 0,
  unsettledToGoal: 0,
  heldToGoal: 0,
};

describe("goal of a run with --once", () => {
  test.each([
    ["an empty stream", { goal: 0, pending: 0 }, "reached"],
    ["the floor at the goal", { ackFloor: 100 }, "reached"],
    ["the floor beyond, with newer messages under way", { ackFloor: 150, pending: 900, ackPending: 30, unsettledHere: 30 }, "reached"],
    ["a filter that ends before the goal", { ackFloor: 80 }, "reached"],
    ["nothing delivered yet", { pending: 100 }, "under_way"],
    ["all delivered, acks under way", { ackPending: 5, unsettledHere: 5 }, "under_way"],
    ["all acked by the server's word, some still settling here", { unsettledHere: 2 }, "under_way"],
    ["leases of another runner", { ackPending: 5 }, "leased_elsewhere"],
    ["leases of another besides held ones here", { ackPending: 6, heldHere: 5 }, "leased_elsewhere"],
    ["leases of another, with more to come", { ackPending: 5, pending: 1 }, "under_way"],
    ["a goal that cannot be read, all settled", { goal: null }, "reached"],
    ["a goal that cannot be read, the floor high", { goal: null, ackFloor: 500, pending: 1 }, "under_way"],
    ["only held ones left", { ackPending: 5, heldHere: 5 }, "held"],
    ["held ones that the server gave up, with its floor beyond them", { ackFloor: 100, heldHere: 2, heldToGoal: 2 }, "held"],
    ["held ones that the server gave up, without a goal", { goal: null, heldHere: 2 }, "held"],
    ["one at work that the server gave up", { ackFloor: 100, unsettledHere: 1, unsettledToGoal: 1 }, "under_way"],
    ["held ones, with others still at work", { ackPending: 6, heldHere: 5, unsettledHere: 1 }, "under_way"],
    ["held ones, with messages not yet delivered", { pending: 3, ackPending: 5, heldHere: 5 }, "under_way"],
    [
      "a held one at the goal, others publish on",
      { delivered: 130, pending: 9, ackPending: 21, unsettledHere: 20, heldHere: 1, heldToGoal: 1 },
      "held",
    ],
    [
      "a held one, and one below the goal still at work",
      { delivered: 130, pending: 9, ackPending: 21, unsettledHere: 20, heldHere: 1, heldToGoal: 1, unsettledToGoal: 1 },
      "under_way",
    ],
    [
      "a held one, and a lease of another that may lie below the goal",
      { delivered: 130, pending: 9, ackPending: 22, unsettledHere: 20, heldHere: 1, heldToGoal: 1 },
      "under_way",
    ],
    ["a held one beyond the goal", { ackFloor: 100, ackPending: 1, heldHere: 1 }, "reached"],
  ] as const)("FW-CLI-08 %s: %s", (_name, given, expected) => {
    expect(onceProgress({ ...facts, ...given })).toBe(expected);
  });

  test("FW-CLI-08 sequences beyond 2^53 are compared exactly", () => {
    const goal = 9_007_199_254_740_993n;
    expect(onceProgress({ ...facts, goal, ackFloor: 9_007_199_254_740_992n, pending: 1 })).toBe("under_way");
    expect(onceProgress({ ...facts, goal, ackFloor: goal, pending: 1 })).toBe("reached");
  });
});
