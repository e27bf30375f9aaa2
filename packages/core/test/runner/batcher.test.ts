import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type BatcherSettings, decideBatch, fitsBatch } from "../../src/runner/batcher.js";

const settings: fc.Arbitrary<BatcherSettings> = fc.record({
  batchSize: fc.integer({ min: 1, max: 50 }),
  batchMaxBytes: fc.integer({ min: 1, max: 5000 }),
  lingerMs: fc.integer({ min: 0, max: 100 }),
});
const buffered = fc.record({
  messages: fc.integer({ min: 0, max: 100 }),
  bytes: fc.integer({ min: 0, max: 10_000 }),
  firstAt: fc.integer({ min: 0, max: 1000 }),
});

const ten: BatcherSettings = { batchSize: 10, batchMaxBytes: 1000, lingerMs: 20 };

describe("closing a batch", () => {
  test.each([
    ["nothing buffered", { messages: 0, bytes: 0, firstAt: 0 }, 1, 500, false, { kind: "wait" }],
    ["nothing buffered at stop", { messages: 0, bytes: 0, firstAt: 0 }, 1, 500, true, { kind: "wait" }],
    ["all slots busy, buffer full", { messages: 10, bytes: 10, firstAt: 0 }, 0, 500, false, { kind: "wait" }],
    ["all slots busy at stop", { messages: 3, bytes: 10, firstAt: 0 }, 0, 500, true, { kind: "wait" }],
    ["fewer than no slots", { messages: 3, bytes: 10, firstAt: 0 }, -1, 500, false, { kind: "wait" }],
    ["full by count", { messages: 10, bytes: 10, firstAt: 100 }, 1, 100, false, { kind: "close" }],
    ["full by bytes", { messages: 1, bytes: 1000, firstAt: 100 }, 1, 100, false, { kind: "close" }],
    ["partial, linger not over", { messages: 1, bytes: 10, firstAt: 100 }, 1, 119, false, { kind: "look_at", at: 120 }],
    ["partial, linger over", { messages: 1, bytes: 10, firstAt: 100 }, 1, 120, false, { kind: "close" }],
    ["partial at stop", { messages: 1, bytes: 10, firstAt: 100 }, 1, 101, true, { kind: "close" }],
  ] as const)("FW-RUN-09 %s", (_name, now, slots, at, stopping, expected) => {
    expect(decideBatch(ten, now, slots, at, stopping)).toEqual(expected);
  });

  test("FW-RUN-09 without linger a free slot takes whatever there is at once", () => {
    expect(decideBatch({ ...ten, lingerMs: 0 }, { messages: 1, bytes: 1, firstAt: 77 }, 1, 77, false)).toEqual({ kind: "close" });
  });

  test("FW-RUN-09 an empty batch is never closed, none without a slot, and a look is always ahead and within the linger", () => {
    fc.assert(
      fc.property(
        settings,
        buffered,
        fc.integer({ min: -1, max: 3 }),
        fc.integer({ min: 0, max: 2000 }),
        fc.boolean(),
        (chosen, now, slots, at, stopping) => {
          const decision = decideBatch(chosen, now, slots, at, stopping);
          if (now.messages === 0 || slots <= 0) expect(decision.kind).toBe("wait");
          else expect(decision.kind).not.toBe("wait");
          if (decision.kind === "look_at") {
            expect(decision.at).toBeGreaterThan(at);
            expect(decision.at).toBeLessThanOrEqual(now.firstAt + chosen.lingerMs);
            expect(decideBatch(chosen, now, slots, decision.at, stopping)).toEqual({ kind: "close" });
          }
        },
      ),
    );
  });
});

describe("what fits a batch", () => {
  test("FW-RUN-09 FW-RUN-11 filling by it keeps count and bytes, splits and never rejects: every message goes into some batch", () => {
    fc.assert(
      fc.property(settings, fc.array(fc.integer({ min: 0, max: 8000 }), { maxLength: 120 }), (chosen, sizes) => {
        const batches: number[][] = [];
        let batch: number[] = [];
        for (const size of sizes) {
          const total = batch.reduce((sum, each) => sum + each, 0);
          if (!fitsBatch(chosen, batch.length, total, size)) {
            batches.push(batch);
            batch = [];
          }
          expect(
            fitsBatch(
              chosen,
              batch.length,
              batch.reduce((sum, each) => sum + each, 0),
              size,
            ),
          ).toBe(true);
          batch.push(size);
        }
        if (batch.length > 0) batches.push(batch);
        expect(batches.flat()).toEqual(sizes);
        for (const each of batches) {
          expect(each.length).toBeGreaterThan(0);
          expect(each.length).toBeLessThanOrEqual(chosen.batchSize);
          const total = each.reduce((sum, size) => sum + size, 0);
          if (each.length > 1) expect(total).toBeLessThanOrEqual(chosen.batchMaxBytes);
        }
      }),
    );
  });

  test("FW-RUN-09 a message larger than a batch is a batch alone", () => {
    expect(fitsBatch(ten, 0, 0, 5000)).toBe(true);
    expect(fitsBatch(ten, 1, 5000, 1)).toBe(false);
    expect(fitsBatch(ten, 1, 1, 5000)).toBe(false);
  });
});
