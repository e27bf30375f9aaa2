import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { superviseSignals } from "../src/signals.js";
import { recordingHost } from "./support/recording-host.js";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function supervised() {
  const host = recordingHost();
  const seen: string[] = [];
  const supervision = superviseSignals(host, {
    leaveAfterMs: 36_000,
    onResume: () => void seen.push("resume"),
    onStopping: (signal) => void seen.push(`stopping ${signal}`),
    onLeaving: (reason) => void seen.push(`leaving: ${reason}`),
  });
  return { host, seen, supervision };
}

describe("signals of a run", () => {
  test.each(["SIGINT", "SIGTERM"] as const)("FW-RUN-28 the first %s aborts and does not leave", (name) => {
    const { host, seen, supervision } = supervised();
    host.raise(name);
    expect(supervision.signal.aborted).toBe(true);
    expect(supervision.stoppedBy()).toBe(name);
    expect(host.left).toEqual([]);
    expect(seen).toEqual([`stopping ${name}`]);
  });

  test.each([
    ["SIGINT", "SIGINT", 130],
    ["SIGTERM", "SIGTERM", 143],
    ["SIGINT", "SIGTERM", 143],
    ["SIGTERM", "SIGINT", 130],
  ] as const)("FW-RUN-28, FW-CLI-02 %s then %s forces exit code %d", (first, second, exitCode) => {
    const { host, seen } = supervised();
    host.raise(first);
    host.raise(second);
    expect(host.left).toEqual([exitCode]);
    expect(seen.at(-1)).toBe("leaving: second signal");
  });

  test("FW-RUN-28 the process leaves at the deadline whatever still runs", () => {
    const { host, seen } = supervised();
    host.raise("SIGTERM");
    vi.advanceTimersByTime(35_999);
    expect(host.left).toEqual([]);
    vi.advanceTimersByTime(1);
    expect(host.left).toEqual([1]);
    expect(seen.at(-1)).toBe("leaving: deadline");
  });

  test("FW-RUN-38 SIGHUP resumes and stops nothing", () => {
    const { host, seen, supervision } = supervised();
    host.raise("SIGHUP");
    host.raise("SIGHUP");
    expect(seen).toEqual(["resume", "resume"]);
    expect(supervision.signal.aborted).toBe(false);
  });

  test("FW-RUN-28 disposal stops listening and clears the deadline", () => {
    const { host, supervision } = supervised();
    host.raise("SIGTERM");
    supervision[Symbol.dispose]();
    vi.advanceTimersByTime(100_000);
    expect(host.left).toEqual([]);
    expect(["SIGINT", "SIGTERM", "SIGHUP"].map((name) => host.listeners(name as "SIGINT"))).toEqual([0, 0, 0]);
  });
});
