import { expect, test } from "vitest";
import { LoopWatch } from "../../src/runner/loop-watch.js";
import { RecordingTelemetry } from "../fakes/recording-telemetry.js";

function watching() {
  const telemetry = new RecordingTelemetry();
  return { telemetry, watch: new LoopWatch(telemetry, 100, 0) };
}

test.each([
  [500, 499, 0],
  [500, 500, 1],
  [5000, 1999, 0],
  [5000, 2000, 1],
])("FW-RUN-17 with heartbeats each %i ms a block of %i ms is told of %i times", (heartbeatMs, blockedMs, times) => {
  const { telemetry, watch } = watching();
  watch.tick(100, heartbeatMs);
  watch.tick(100 + blockedMs, heartbeatMs);
  watch.tick(200 + blockedMs, heartbeatMs);
  expect(telemetry.counted("event_loop_blocks_total")).toBe(times);
  const told = times === 0 ? [] : [{ level: "warn", event: "the event loop was blocked", fields: { ms: blockedMs } }];
  expect(telemetry.events).toEqual(told);
});

test("FW-RUN-17 how late the loop is, is measured at every tick and never below zero", () => {
  const { telemetry, watch } = watching();
  for (const at of [100, 180, 330]) watch.tick(at, 5000);
  expect(telemetry.observed("event_loop_delay_seconds")).toEqual([0, 0, 0.05]);
});
