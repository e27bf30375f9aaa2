import { spawn } from "node:child_process";
import { once } from "node:events";
import { expect, test } from "vitest";
import { processState, stateFromStat } from "../src/service/process-state.js";

test.each([
  [null, "gone"],
  ["", "gone"],
  ["12 (nats-server) S 1 12", "running"],
  ["12 (nats-server) R 1 12", "running"],
  ["12 (nats-server) D 1 12", "running"],
  ["12 (nats-server) T 1 12", "stopped"],
  ["12 (nats-server) t 1 12", "stopped"],
  ["12 (nats-server) Z 1 12", "gone"],
  ["12 (evil) Z (name) S 1 12", "running"],
] as const)("stat line %j reads as %s", (stat, expected) => {
  expect(stateFromStat(stat)).toBe(expected);
});

test("a living process runs, one that ended is gone", async () => {
  expect(processState(process.pid)).toBe("running");
  const child = spawn(process.execPath, ["-e", ""]);
  await once(child, "exit");
  expect(processState(child.pid as number)).toBe("gone");
});
