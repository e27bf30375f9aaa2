import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { EpochGuard } from "../../src/source/epoch.js";

const [old, fresh] = ["2026-01-01T00:00:00Z", "2026-02-02T00:00:00Z"];

describe("trust in the epoch", () => {
  test("FW-RUN-33 a doubt takes it away until both times have been read after it", () => {
    const guard = new EpochGuard(old, old);
    expect(guard.trusted).toBe(true);
    const mark = guard.doubt();
    expect([guard.trusted, guard.mark]).toEqual([false, mark]);
    expect(guard.settle(mark, old, old)).toBe(false);
    expect([guard.trusted, guard.current.number]).toEqual([true, 1]);
  });

  test("FW-RUN-33 a reading that was asked for before the newest doubt does not answer it", () => {
    const guard = new EpochGuard(old, old);
    const first = guard.doubt();
    const second = guard.doubt();
    guard.settle(first, old, old);
    expect(guard.trusted).toBe(false);
    guard.settle(second, old, old);
    expect(guard.trusted).toBe(true);
  });

  test("FW-RUN-33 readings that come in the wrong order do not take an answer back", () => {
    const guard = new EpochGuard(old, old);
    const [first, second] = [guard.doubt(), guard.doubt()];
    guard.settle(second, old, old);
    guard.settle(first, old, old);
    expect(guard.trusted).toBe(true);
  });

  test.each([
    ["stream", fresh, old],
    ["consumer", old, fresh],
    ["both", fresh, fresh],
  ])("FW-RUN-33 a new %s is a new epoch", (_name, stream, consumer) => {
    const guard = new EpochGuard(old, old);
    expect(guard.settle(guard.doubt(), stream, consumer)).toBe(true);
    expect(guard.current).toEqual({ number: 2, streamCreatedAt: stream, consumerCreatedAt: consumer });
    expect(guard.settle(guard.doubt(), stream, consumer)).toBe(false);
  });

  test("FW-RUN-33 whatever doubts and readings there are, trust means that the newest doubt is answered", () => {
    const steps = fc.array(fc.oneof(fc.constant("doubt" as const), fc.nat(20)), { maxLength: 60 });
    fc.assert(
      fc.property(steps, (all) => {
        const guard = new EpochGuard(old, old);
        let doubts = 0;
        let answered = 0;
        for (const step of all) {
          if (step === "doubt") {
            doubts += 1;
            expect(guard.doubt()).toBe(doubts);
          } else {
            const mark = Math.min(step, doubts);
            answered = Math.max(answered, mark);
            guard.settle(mark, old, old);
          }
          expect(guard.trusted).toBe(answered === doubts);
        }
      }),
    );
  });
});

describe("consumer sequences", () => {
  test("FW-RUN-33 must grow; one that does not is told, and the next is compared with it", () => {
    const guard = new EpochGuard(old, old);
    expect([1, 2, 5, 5, 3, 4].map((sequence) => guard.follows(sequence))).toEqual([true, true, true, false, false, true]);
    expect(guard.follows(9_007_199_254_740_993n)).toBe(true);
    expect(guard.follows(9_007_199_254_740_992n)).toBe(false);
  });

  test("FW-RUN-33 begin anew with a new epoch", () => {
    const guard = new EpochGuard(old, old);
    guard.follows(100);
    guard.settle(guard.doubt(), old, fresh);
    expect(guard.follows(1)).toBe(true);
  });
});

describe("waiting for trust", () => {
  test("FW-RUN-33 ends at once while there is trust", async () => {
    await new EpochGuard(old, old).whenTrusted(new AbortController().signal);
  });

  test("FW-RUN-33 ends for everybody with the answer, not with a stale one", async () => {
    const guard = new EpochGuard(old, old);
    const [first, second] = [guard.doubt(), guard.doubt()];
    let done = 0;
    const waits = [1, 2].map(async () => {
      await guard.whenTrusted(new AbortController().signal);
      done += 1;
    });
    guard.settle(first, old, old);
    await new Promise(setImmediate);
    expect(done).toBe(0);
    guard.settle(second, old, old);
    await Promise.all(waits);
    expect([done, guard.trusted]).toEqual([2, true]);
  });

  test("FW-RUN-33 goes on when a doubt comes with the answer", async () => {
    const guard = new EpochGuard(old, old);
    const mark = guard.doubt();
    let done = false;
    const wait = guard.whenTrusted(new AbortController().signal).then(() => {
      done = true;
    });
    guard.settle(mark, old, old);
    const next = guard.doubt();
    await new Promise(setImmediate);
    expect(done).toBe(false);
    guard.settle(next, old, old);
    await wait;
  });

  test("FW-RUN-28 is cut short by leaving", async () => {
    const guard = new EpochGuard(old, old);
    guard.doubt();
    const leaving = new AbortController();
    const wait = guard.whenTrusted(leaving.signal);
    leaving.abort();
    await wait;
    expect(guard.trusted).toBe(false);
  });
});
