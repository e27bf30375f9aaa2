import type { RunnerStatus } from "@sinks/core/runtime";
import { describe, expect, test } from "vitest";
import { progressFields, progressText, RateMeter } from "../src/output/progress.js";
import { ProgressLine } from "../src/output/progress-line.js";
import { recordingOutput } from "./support/recording-host.js";

const status = (part: Partial<RunnerStatus> = {}): RunnerStatus => ({
  state: "running",
  healthy: true,
  reasons: [],
  received: 0,
  stored: 0,
  deadLettered: 0,
  retried: 0,
  held: 0,
  inFlight: 0,
  bytesInFlight: 0,
  lag: null,
  ready: true,
  ackPending: null,
  oldestUnsettledMs: 0,
  ...part,
});

describe("the rate", () => {
  test("FW-CLI-09 is that of the last seconds, dead letters counted", () => {
    const meter = new RateMeter(5000);
    expect(meter.read(status(), 0)).toBe(0);
    expect(meter.read(status({ stored: 900, deadLettered: 100 }), 1000)).toBe(1000);
    for (const at of [2000, 3000, 4000, 5000, 6000]) meter.read(status({ stored: 1000 }), at);
    expect(meter.read(status({ stored: 1000 }), 7000)).toBe(0);
  });

  test("FW-CLI-09 two readings at one instant give no rate without end", () => {
    const meter = new RateMeter();
    meter.read(status(), 10);
    expect(meter.read(status({ stored: 5 }), 10)).toBe(0);
  });
});

describe("the progress of a run", () => {
  test("FW-CLI-09 shows rate, lag, in flight and dead letters", () => {
    expect(progressText(status({ stored: 12_345, lag: 1_000_000, inFlight: 40, deadLettered: 2 }), 1234.4)).toBe(
      "12,345 stored  1,234/s  lag 1,000,000  in flight 40  dead letters 2",
    );
  });

  test("FW-CLI-09 shows what is held and what is wrong, on one line", () => {
    const text = progressText(status({ healthy: false, reasons: ["window_full", "a\nb"], held: 3 }), 0);
    expect(text).toContain("lag ?");
    expect(text).toContain("held 3");
    expect(text).toContain("unhealthy: window_full, a\\nb");
  });

  test("FW-CLI-09 a log line carries the same facts as fields", () => {
    expect(progressFields(status({ stored: 7, lag: 3, healthy: false, reasons: ["held_limit"] }), 2.6)).toMatchObject({
      stored: 7,
      per_second: 3,
      lag: 3,
      in_flight: 0,
      dead_lettered: 0,
      healthy: false,
      reasons: "held_limit",
    });
  });
});

describe("the progress line", () => {
  test("FW-CLI-09 is written over on a terminal, cut to its width, and log lines go above it", () => {
    const output = recordingOutput(true, 10);
    const line = new ProgressLine(output);
    line.show("0123456789ABC");
    line.writeLine("log");
    line.end();
    expect(output.text()).toBe("\r\u001b[2K012345678\r\u001b[2Klog\n012345678\r\u001b[2K");
  });

  test("FW-CLI-09 does not exist without a terminal", () => {
    const output = recordingOutput(false);
    const line = new ProgressLine(output);
    line.show("progress");
    line.writeLine("log");
    line.end();
    expect(output.text()).toBe("log\n");
  });
});
