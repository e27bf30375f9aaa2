import { expect, test, vi } from "vitest";
import { guardTelemetry } from "../../src/telemetry/guarded.js";
import type { Telemetry } from "../../src/telemetry/port.js";
import { RecordingTelemetry } from "../fakes/recording-telemetry.js";

test("FW-OBS-06 what a port throws never reaches whoever reports", () => {
  const fail = (): never => {
    throw new Error("the collector is away");
  };
  const port = guardTelemetry({ enabled: fail, log: fail, count: fail, observe: fail });
  expect(port.enabled("error")).toBe(false);
  expect(() => {
    port.log("error", "something happened");
    port.count("events_total");
    port.observe?.("event_seconds", 1);
  }).not.toThrow();
});

test("FW-OBS-06 a promise that such a port returns may fail unheard", async () => {
  const unhandled = vi.fn();
  process.on("unhandledRejection", unhandled);
  const late = (async () => {
    throw new Error("the collector is away");
  }) as () => never;
  const port = guardTelemetry({ enabled: () => true, log: late, count: late, observe: late });
  port.log("error", "something happened");
  port.count("events_total");
  port.observe?.("event_seconds", 1);
  await new Promise(setImmediate);
  await new Promise(setImmediate);
  process.off("unhandledRejection", unhandled);
  expect(unhandled).not.toHaveBeenCalled();
});

test("FW-OBS-06 a port that works is told everything, and one without measurements is not asked for them", () => {
  const kept = new RecordingTelemetry();
  const port = guardTelemetry(kept);
  port.log("warn", "event", { code: "x" });
  port.count("events_total", 2, "reason");
  port.observe?.("event_seconds", 0.5);
  expect(kept.events).toEqual([{ level: "warn", event: "event", fields: { code: "x" } }]);
  expect([kept.counted("events_total"), kept.observed("event_seconds"), port.enabled("debug")]).toEqual([2, [0.5], true]);
  const plain: Telemetry = { enabled: () => false, log: () => undefined, count: () => undefined };
  expect(() => guardTelemetry(plain).observe?.("event_seconds", 1)).not.toThrow();
});
