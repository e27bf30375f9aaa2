import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { Sink, SinkContext } from "../../src/connector/sink.js";
import { startWithin } from "../../src/runner/sink-life.js";
import { RecordingTelemetry } from "../fakes/recording-telemetry.js";

function sinkThat(start: (context: SinkContext) => Promise<void>): Sink {
  return { start, writeBatch: async () => undefined, stop: async () => undefined };
}

describe("a start with a limit", () => {
  const leaving = new AbortController();
  const context = { name: "sink", pipeline: "EVENTS/sink/sink", telemetry: new RecordingTelemetry(), signal: leaving.signal };

  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  test("FW-RUN-32 a sink that starts keeps a signal that nobody aborts", async () => {
    let seen: AbortSignal | undefined;
    const sink = sinkThat(async ({ signal }) => {
      seen = signal;
    });
    await startWithin(sink, context, 1000);
    await vi.advanceTimersByTimeAsync(5000);
    expect(seen?.aborted).toBe(false);
  });

  test("FW-RUN-32 one that hangs has failed as an outage, and its signal says so", async () => {
    let seen: AbortSignal | undefined;
    const sink = sinkThat(({ signal }) => {
      seen = signal;
      return new Promise(() => undefined);
    });
    const started = expect(startWithin(sink, context, 1000)).rejects.toMatchObject({
      name: "DestinationUnavailableError",
      message: "the sink did not start in time",
    });
    await vi.advanceTimersByTimeAsync(1000);
    await started;
    expect(seen?.aborted).toBe(true);
  });

  test("FW-ERR-06 its own error is the one that counts, also when it throws at once", async () => {
    const sink = sinkThat(() => {
      throw new Error("no such directory");
    });
    await expect(startWithin(sink, context, 1000)).rejects.toThrow("no such directory");
  });

  test("FW-RUN-28 a stop under way is not waited out", async () => {
    const stopping = new AbortController();
    const started = expect(
      startWithin(
        sinkThat(() => new Promise(() => undefined)),
        { ...context, signal: stopping.signal },
        60_000,
      ),
    ).rejects.toMatchObject({ message: "the start was given up" });
    stopping.abort();
    await started;
  });

  test("FW-RUN-02 checks come first, and those that end after the start was given up start no sink", async () => {
    const calls: string[] = [];
    const sink = sinkThat(async () => void calls.push("start"));
    await startWithin(sink, context, 1000, async () => void calls.push("checks"));
    expect(calls).toEqual(["checks", "start"]);
    const stopping = new AbortController();
    let finishChecks = (): void => undefined;
    const checked = new Promise<void>((resolve) => (finishChecks = resolve));
    const late = startWithin(sink, { ...context, signal: stopping.signal }, 60_000, () => checked);
    stopping.abort();
    await expect(late).rejects.toThrow("the start was given up");
    finishChecks();
    await vi.advanceTimersByTimeAsync(0);
    expect(calls).toEqual(["checks", "start"]);
  });
});
