import type { LogFields, Telemetry } from "@sinks/core";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { ProgressLine } from "../src/output/progress-line.js";
import { reportProgress } from "../src/progress-reports.js";
import { recordingOutput } from "./support/recording-host.js";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function reporting(onTerminal: boolean) {
  const output = recordingOutput(onTerminal);
  const events: (readonly [string, LogFields | undefined])[] = [];
  const telemetry: Telemetry = {
    enabled: () => true,
    count: () => undefined,
    log: (_, event, fields) => void events.push([event, fields]),
  };
  let stored = 0;
  const reports = reportProgress({
    status: () => ({
      state: "running",
      healthy: true,
      reasons: [],
      received: stored,
      stored,
      deadLettered: 0,
      retried: 0,
      held: 0,
      inFlight: 0,
      bytesInFlight: 0,
      lag: 0,
      ready: true,
      ackPending: null,
      oldestUnsettledMs: 0,
    }),
    telemetry,
    line: new ProgressLine(output),
    onTerminal,
    logIntervalMs: 30_000,
    monotonicMs: () => Date.now(),
  });
  return {
    output,
    events,
    reports,
    store: (count: number) => {
      stored += count;
    },
  };
}

test("FW-CLI-09 on a terminal the line is drawn again and again, nothing is logged, and it is gone at the end", () => {
  const { output, events, reports, store } = reporting(true);
  store(500);
  vi.advanceTimersByTime(1000);
  expect(output.text()).toContain("500 stored  1,000/s");
  expect(events).toEqual([]);
  reports[Symbol.dispose]();
  expect(output.text().endsWith("\r\u001b[2K")).toBe(true);
  const drawn = output.text();
  vi.advanceTimersByTime(60_000);
  expect(output.text()).toBe(drawn);
});

test("FW-CLI-09 without a terminal there is one log line at each interval, with the rate since the last", () => {
  const { output, events, reports, store } = reporting(false);
  store(3000);
  vi.advanceTimersByTime(29_999);
  expect(events).toEqual([]);
  vi.advanceTimersByTime(1);
  expect(events).toEqual([["progress", expect.objectContaining({ stored: 3000, per_second: 100 })]]);
  vi.advanceTimersByTime(30_000);
  expect(events[1]).toEqual(["progress", expect.objectContaining({ per_second: 0 })]);
  reports[Symbol.dispose]();
  vi.advanceTimersByTime(60_000);
  expect(events).toHaveLength(2);
  expect(output.text()).toBe("");
});
