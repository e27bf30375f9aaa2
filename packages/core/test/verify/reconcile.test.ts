import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { RangeList } from "../../src/verify/range-list.js";
import { type Readings, reconcile, windowSize } from "../../src/verify/reconcile.js";
import { SequenceMarks } from "../../src/verify/sequence-marks.js";
import { noLimits } from "../fakes/no-limits.js";
import { SimulatedPipeline } from "../fakes/simulated-pipeline.js";

const messages = 24;

function spread(list: RangeList): number[] {
  return list.ranges.flatMap(([first, last]) => Array.from({ length: last - first + 1 }, (_, index) => first + index));
}

/** Numbers from 0 up to 1 out of a seed (mulberry32). */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

const course = fc.record({
  seed: fc.integer(),
  pace: fc.constantFrom(0, 2, 4, 12, 60),
  begin: fc.nat({ max: 120 }),
  deadLettered: fc.uniqueArray(fc.integer({ min: 1, max: messages }), { maxLength: 5 }),
  size: fc.constantFrom(5, 24, 100),
});
const retention = fc.constantFrom("limits" as const, "workqueue" as const, "interest" as const);
const some = fc.uniqueArray(fc.integer({ min: 1, max: messages }), { minLength: 1, maxLength: 4 });

interface Course {
  readonly seed: number;
  readonly pace: number;
  readonly begin: number;
  readonly deadLettered: readonly number[];
}

function pipelineOf(
  { seed, pace, begin, deadLettered }: Course,
  retentionOf: "limits" | "workqueue" | "interest",
  lost: readonly number[],
  removals: boolean,
): SimulatedPipeline {
  const letters = new Set(deadLettered.filter((sequence) => !lost.includes(sequence)));
  const pipeline = new SimulatedPipeline({
    messages,
    retention: retentionOf,
    lost: new Set(lost),
    deadLettered: letters,
    random: seeded(seed),
    pace,
    removals,
  });
  for (let turn = 0; turn < begin; turn += 1) pipeline.work();
  return pipeline;
}

describe("reconcile beside a pipeline that works on", () => {
  test("FW-CLI-07 any course without a loss: nothing is missing, and all are accounted for", async () => {
    await fc.assert(
      fc.asyncProperty(course, retention, async (given, kept) => {
        const result = await reconcile(pipelineOf(given, kept, [], false), 1, messages, given.size);
        expect([spread(result.missing), result.expected, result.purged]).toEqual([[], messages, 0]);
      }),
      { numRuns: 600 },
    );
  });

  test("FW-CLI-07 any course in which the stream loses messages too: on a stream of limits nothing is missing", async () => {
    await fc.assert(
      fc.asyncProperty(course, async (given) => {
        const result = await reconcile(pipelineOf(given, "limits", [], true), 1, messages, given.size);
        expect([spread(result.missing), result.expected]).toEqual([[], messages]);
      }),
      { numRuns: 600 },
    );
  });

  test("FW-CLI-07 any course with losses while the stream loses messages too: nothing is missing that was not lost", async () => {
    await fc.assert(
      fc.asyncProperty(course, some, async (given, lost) => {
        const pipeline = pipelineOf(given, "limits", lost, true);
        const result = await reconcile(pipeline, 1, messages, given.size);
        expect(result.missing.count).toBeLessThanOrEqual(pipeline.lostNow.size);
        if (!result.notes.some((note) => note.includes("by number")))
          for (const sequence of spread(result.missing)) expect(pipeline.lostNow).toContain(sequence);
      }),
      { numRuns: 600 },
    );
  });

  test("FW-CLI-07 any course with losses: never more is missing than was lost, and once all is settled just that", async () => {
    await fc.assert(
      fc.asyncProperty(course, retention, some, async (given, kept, lost) => {
        const pipeline = pipelineOf(given, kept, lost, false);
        const early = await reconcile(pipeline, 1, messages, given.size);
        expect(early.missing.count).toBeLessThanOrEqual(pipeline.lostNow.size);
        if (early.notes.length === 0) for (const sequence of spread(early.missing)) expect(pipeline.lostNow).toContain(sequence);
        pipeline.finish();
        const late = await reconcile(pipeline, 1, messages, given.size);
        expect(spread(late.missing)).toEqual([...lost].sort((left, right) => left - right));
        expect([late.notes, late.pending]).toEqual([[], 0]);
      }),
      { numRuns: 600 },
    );
  });
});

/** Readings of ten million messages, listed in an order that is as bad as a folder's. */
function manyReadings(count: number, missing: ReadonlySet<number>): Readings {
  const stride = 7_368_787;
  return {
    consumer: async () => ({ floor: count, delivered: count, ackPending: 0 }),
    async destination(from, to, { stored }) {
      for (let turn = 0, sequence = 0; turn < count; turn += 1) {
        sequence = (sequence + stride) % count;
        if (!missing.has(sequence + 1) && sequence + 1 >= from && sequence < to) stored(sequence + 1);
      }
    },
    deadLetters: async () => undefined,
    stream: async () => ({
      wholeStream: true,
      limits: {
        retention: "workqueue",
        firstSequence: count + 1,
        lastSequence: count,
        ageMs: 1,
        ...noLimits,
      },
    }),
    existing: async () => undefined,
  };
}

describe("reconcile with the destination gone", () => {
  const gone = (floor: number, lateComer: boolean): Readings => {
    let looks = 0;
    return {
      consumer: async () => ({ floor, delivered: floor, ackPending: 0 }),
      async destination(_from, _to, report) {
        looks += 1;
        if (lateComer && looks > 1) for (const sequence of [1, 2, 3]) report.stored(sequence);
        else report.absent("the folder is not there");
      },
      deadLetters: async (_from, _to, deadLettered) => deadLettered(2),
      stream: async () => ({
        wholeStream: false,
        limits: { retention: "limits", firstSequence: 5, lastSequence: 6, ageMs: 1, ...noLimits },
      }),
      existing: async (_positions, found) => {
        for (const sequence of [5, 6]) found(sequence);
      },
    };
  };

  test("FW-CLI-07 what the consumer has behind it is missing, also where the stream has let go of it, but no dead letter", async () => {
    const result = await reconcile(gone(4, false), 1, 6);
    expect(result.missing.ranges).toEqual([
      [1, 1],
      [3, 4],
    ]);
    expect([result.deadLettered, result.pending]).toEqual([1, 2]);
    expect(result.notes).toContain("the folder is not there: what is gone from the stream up to the ack floor counts as missing");
  });

  test("FW-CLI-07 nothing is missing before anything was acknowledged, or when the destination is made meanwhile", async () => {
    expect((await reconcile(gone(0, false), 1, 6)).missing.count).toBe(0);
    expect((await reconcile(gone(3, true), 1, 6)).missing.count).toBe(0);
  });
});

describe("reconcile of many sequences", () => {
  test("FW-CLI-07 ten million in the order of a folder: found exactly, in one byte each and no more than a window", async () => {
    const count = 10_000_000;
    const lost = new Set([1, 2, 3, 5_000_000, count]);
    globalThis.gc?.();
    const before = process.memoryUsage();
    let most = 0;
    const readings = manyReadings(count, lost);
    const watched: Readings = {
      ...readings,
      async stream() {
        const { heapUsed, arrayBuffers } = process.memoryUsage();
        most = Math.max(most, heapUsed + arrayBuffers - before.heapUsed - before.arrayBuffers);
        return readings.stream();
      },
    };
    const result = await reconcile(watched, 1, count);
    expect(result.missing.ranges).toEqual([
      [1, 3],
      [5_000_000, 5_000_000],
      [count, count],
    ]);
    expect([result.expected, result.stored]).toEqual([count, count - 5]);
    // The marks of one window, and some noise of the machine's own.
    expect(most).toBeLessThan(count + 24_000_000);
    expect(new SequenceMarks(1, count).bytes).toBe(count);
    expect(windowSize).toBeLessThanOrEqual(2 ** 25);
  }, 120_000);

  test("FW-CLI-07 more than a window holds is looked at in turns, with the same result", async () => {
    const lost = new Set([1, 1000, 1001, 1002, 5000]);
    const whole = await reconcile(manyReadings(5000, lost), 1, 5000);
    const turns = await reconcile(manyReadings(5000, lost), 1, 5000, 1001);
    expect(turns.missing.ranges).toEqual(whole.missing.ranges);
    expect([turns.expected, turns.stored]).toEqual([whole.expected, whole.stored]);
  });
});
