import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { BatcherSettings } from "../../src/runner/batcher.js";
import type { FlightEntry } from "../../src/runner/flight.js";
import { FreeLanes } from "../../src/runner/free-lanes.js";
import { entryOf } from "../fakes/entries.js";

const ten: BatcherSettings = { batchSize: 10, batchMaxBytes: 1000, lingerMs: 0 };

function entry(sequence: number, overrides: Partial<FlightEntry> = {}): FlightEntry {
  return Object.assign(entryOf({ sequence }, { bytes: overrides.bytes ?? 10 }), overrides);
}

function sequences(entries: readonly FlightEntry[]): unknown[] {
  return entries.map(({ sequence }) => sequence);
}

type Step =
  | { readonly kind: "add"; readonly bytes: number; readonly delay: number; readonly single: boolean }
  | { readonly kind: "take"; readonly retry: number }
  | { readonly kind: "wait"; readonly ms: number }
  | { readonly kind: "remove"; readonly pick: number };

const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof(
    fc.record({
      kind: fc.constant("add" as const),
      bytes: fc.integer({ min: 0, max: 1500 }),
      delay: fc.constantFrom(0, 0, 0, 5, 50),
      single: fc.boolean(),
    }),
    fc.record({ kind: fc.constant("take" as const), retry: fc.constantFrom(0, 0, 1, 20) }),
    fc.record({ kind: fc.constant("wait" as const), ms: fc.integer({ min: 0, max: 30 }) }),
    fc.record({ kind: fc.constant("remove" as const), pick: fc.nat(50) }),
  ),
  { maxLength: 150 },
);

describe("lanes without an order", () => {
  test("FW-RUN-09 FW-RUN-12 nothing is lost or given twice, nothing goes before its time, limits and single writes hold", () => {
    fc.assert(
      fc.property(steps, (all) => {
        const lanes = new FreeLanes();
        const waiting = new Map<FlightEntry, number>();
        let now = 1;
        let next = 1;
        for (const step of all) {
          if (step.kind === "wait") now += step.ms;
          if (step.kind === "add") {
            const added = entry(next, { bytes: step.bytes, retryAt: step.delay === 0 ? 0 : now + step.delay, single: step.single });
            next += 1;
            waiting.set(added, added.retryAt);
            lanes.add(added);
          }
          if (step.kind === "remove" && waiting.size > 0) {
            const removed = [...waiting.keys()][step.pick % waiting.size] as FlightEntry;
            waiting.delete(removed);
            lanes.remove(removed);
            lanes.remove(removed);
          }
          if (step.kind === "take") {
            const ready = lanes.ready(now, ten);
            const due = [...waiting].filter(([, at]) => at <= now);
            expect(ready.messages > 0).toBe(due.length > 0);
            const batch = lanes.take(now, ten);
            expect(batch.length > 0).toBe(due.length > 0);
            expect(batch.length).toBeLessThanOrEqual(ten.batchSize);
            if (batch.length > 1) {
              expect(batch.reduce((sum, { bytes }) => sum + bytes, 0)).toBeLessThanOrEqual(ten.batchMaxBytes);
              expect(batch.every(({ single }) => !single)).toBe(true);
            }
            for (const taken of batch) {
              expect(waiting.get(taken)).toBeLessThanOrEqual(now);
              waiting.delete(taken);
              if (step.retry > 0) {
                taken.retryAt = now + step.retry;
                waiting.set(taken, taken.retryAt);
                lanes.add(taken);
              }
            }
          }
          expect(new Set(lanes.waiting())).toEqual(new Set(waiting.keys()));
          expect(lanes.waiting()).toHaveLength(waiting.size);
          const ahead = [...waiting.values()].filter((at) => at > now);
          expect(lanes.nextAt(now)).toBe(ahead.length === 0 ? null : Math.min(...ahead));
        }
      }),
    );
  });

  test("FW-RUN-09 what may go at once goes first come, first served, over any number of batches", () => {
    const lanes = new FreeLanes();
    const count = 5000;
    const taken: unknown[] = [];
    for (let sequence = 1; sequence <= count; sequence += 1) {
      lanes.add(entry(sequence, { bytes: 1 }));
      if (sequence % 3 === 0) taken.push(...sequences(lanes.take(0, { ...ten, batchSize: 2 })));
    }
    for (let batch = lanes.take(0, ten); batch.length > 0; batch = lanes.take(0, ten)) taken.push(...sequences(batch));
    expect(taken).toEqual(Array.from({ length: count }, (_, index) => index + 1));
  });

  test("FW-RUN-09 says what is buffered in all, since when, and gives what fits", () => {
    const lanes = new FreeLanes();
    for (const [sequence, at] of [
      [1, 40],
      [2, 50],
      [3, 60],
    ] as const) {
      lanes.add(entry(sequence, { bytes: 400, arrivedAt: at }));
    }
    expect(lanes.ready(70, ten)).toEqual({ messages: 3, bytes: 1200, firstAt: 40 });
    expect(sequences(lanes.take(70, ten))).toEqual([1, 2]);
    expect(lanes.ready(70, ten)).toEqual({ messages: 1, bytes: 400, firstAt: 60 });
  });

  test("FW-ERR-03 a message that must be written alone does not wait for company", () => {
    const lanes = new FreeLanes();
    lanes.add(entry(1, { single: true }));
    lanes.add(entry(2));
    expect(lanes.ready(0, ten).messages).toBeGreaterThanOrEqual(ten.batchSize);
    expect(sequences(lanes.take(0, ten))).toEqual([1]);
    expect(sequences(lanes.take(0, ten))).toEqual([2]);
  });

  test("FW-RUN-18 a delayed message stands aside until its time and delays nobody", () => {
    const lanes = new FreeLanes();
    lanes.add(entry(1, { retryAt: 100 }));
    lanes.add(entry(2, { retryAt: 50 }));
    lanes.add(entry(3));
    expect(lanes.nextAt(0)).toBe(50);
    expect(sequences(lanes.take(0, ten))).toEqual([3]);
    expect(lanes.take(49, ten)).toEqual([]);
    // Due already, although nobody took it: only what is ahead is a time to wake up at, or a full sink would spin.
    expect(lanes.nextAt(60)).toBe(100);
    expect(sequences(lanes.take(100, ten))).toEqual([2, 1]);
    expect(lanes.nextAt(100)).toBeNull();
  });

  test("FW-RUN-33 another epoch begins with nothing", () => {
    const lanes = new FreeLanes();
    lanes.add(entry(1));
    lanes.add(entry(2, { retryAt: 50 }));
    lanes.clear();
    expect([lanes.waiting(), lanes.nextAt(0), lanes.ready(99, ten).messages]).toEqual([[], null, 0]);
    lanes.add(entry(1));
    expect(lanes.ready(0, ten)).toMatchObject({ messages: 1, bytes: 10 });
  });
});
