import { PermanentSinkError, TemporarySinkError, type WriteOutcome } from "@sinks/core";
import { expect, test } from "vitest";
import { LaneTurns } from "../src/lane-turns.js";
import { writeContext } from "./fixture.js";

const temporary = new TemporarySinkError("later");
const permanent = new PermanentSinkError("never");

/** True when the promise has settled by now. */
async function settled(promise: Promise<unknown>): Promise<boolean> {
  const pending = Symbol("pending");
  for (let turn = 0; turn < 5; turn += 1) await Promise.resolve();
  return (await Promise.race([promise, Promise.resolve(pending)])) !== pending;
}

test("FW-RUN-35 a lane's messages take their turns one after another, other lanes do not wait", async () => {
  const turns = new LaneTurns(writeContext({ ordered: true, lanes: [0, 0, 1] }));
  const [first, second, other] = [turns.take(0, "a"), turns.take(1, "b"), turns.take(2, "c")] as const;
  expect(await Promise.all([first, second, other].map((turn) => settled(turn.ready)))).toEqual([true, false, true]);
  first.end(null);
  expect([await settled(second.ready), second.mayGo()]).toEqual([true, true]);
});

test("FW-FILE-05 messages for one path take turns without any order, so that the first one wins", async () => {
  const turns = new LaneTurns(writeContext());
  const [first, second, other] = [turns.take(0, "a"), turns.take(1, "a"), turns.take(2, null)] as const;
  expect(await Promise.all([first, second, other].map((turn) => settled(turn.ready)))).toEqual([true, false, true]);
  first.end(temporary);
  expect([await settled(second.ready), second.mayGo()]).toEqual([true, true]);
});

test.each<[string, WriteOutcome, "dead_letter_and_continue" | "park_key" | "stop", boolean]>([
  ["success", null, "stop", true],
  ["a temporary failure", temporary, "dead_letter_and_continue", false],
  ["a permanent failure", permanent, "dead_letter_and_continue", true],
  ["a permanent failure", permanent, "park_key", false],
  ["a permanent failure", permanent, "stop", false],
])("FW-RUN-35 FW-RUN-36 after %s (%s) under %s later messages of the lane may go: %s", async (_what, outcome, onPoison, goes) => {
  const turns = new LaneTurns(writeContext({ ordered: true, lanes: [3, 3, 4], onPoison }));
  const [first, second, other] = [turns.take(0, "a"), turns.take(1, "b"), turns.take(2, "c")] as const;
  first.end(outcome);
  await second.ready;
  expect([second.mayGo(), other.mayGo()]).toEqual([goes, true]);
});
