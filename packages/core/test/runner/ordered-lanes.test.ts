import { describe, expect, test } from "vitest";
import type { BatcherSettings } from "../../src/runner/batcher.js";
import type { FlightEntry } from "../../src/runner/flight.js";
import { OrderedLanes } from "../../src/runner/ordered-lanes.js";
import { entryOf } from "../fakes/entries.js";

const ten: BatcherSettings = { batchSize: 10, batchMaxBytes: 1000, lingerMs: 0 };
const bySubject = (entry: FlightEntry): string => entry.envelope?.subject ?? "";

function entry(sequence: number, key = "a", overrides: Partial<FlightEntry> = {}): FlightEntry {
  return Object.assign(entryOf({ sequence, subject: `events.${key}` }, { bytes: 10 }), overrides);
}

function sequences(entries: readonly FlightEntry[]): unknown[] {
  return entries.map(({ sequence }) => sequence);
}

function lanesOf(entries: readonly FlightEntry[], wholeLane = true): OrderedLanes {
  const lanes = new OrderedLanes(bySubject, wholeLane);
  for (const each of entries) lanes.add(each);
  return lanes;
}

describe("order of a lane", () => {
  test("FW-RUN-12 one writer per key, original order, other keys free", () => {
    const lanes = lanesOf([entry(1, "a"), entry(2, "b"), entry(3, "a"), entry(4, "b"), entry(5, "c")]);
    const batch = lanes.take(0, { ...ten, batchSize: 3 });
    expect(sequences(batch)).toEqual([1, 3, 2]);
    expect(sequences(lanes.take(0, ten))).toEqual([5]);
    lanes.settleWrite(batch[0] as FlightEntry);
    expect(lanes.take(0, ten)).toEqual([]);
    lanes.settleWrite(batch[2] as FlightEntry);
    expect(sequences(lanes.take(0, ten))).toEqual([4]);
  });

  test("FW-RUN-35 a sink that cannot stop inside a batch gets one message per lane", () => {
    const lanes = lanesOf([entry(1, "a"), entry(2, "a"), entry(3, "b"), entry(4, "b")], false);
    expect(sequences(lanes.take(0, ten))).toEqual([1, 3]);
  });

  test("FW-RUN-13 a message to be tried later holds its lane back, nobody else's", () => {
    const lanes = lanesOf([entry(1, "a"), entry(2, "a"), entry(3, "b")]);
    const [one] = lanes.take(0, { ...ten, batchSize: 1 }) as [FlightEntry];
    one.retryAt = 500;
    lanes.add(one);
    lanes.settleWrite(one);
    expect(lanes.nextAt(0)).toBe(500);
    expect(sequences(lanes.take(0, ten))).toEqual([3]);
    expect(lanes.take(499, ten)).toEqual([]);
    expect(sequences(lanes.take(500, ten))).toEqual([1, 2]);
  });

  test("FW-RUN-13 a message in the middle of its lane that must wait ends what may go", () => {
    const lanes = lanesOf([entry(1), entry(2, "a", { retryAt: 500 }), entry(3)]);
    expect(lanes.ready(0, ten).messages).toBe(1);
    expect(sequences(lanes.take(0, ten))).toEqual([1]);
  });

  test("FW-RUN-13 what comes back goes where its sequence belongs", () => {
    const lanes = lanesOf([entry(2), entry(9), entry(5)]);
    lanes.add(entry(1));
    lanes.add(entry(7));
    expect(sequences(lanes.take(0, ten))).toEqual([1, 2, 5, 7, 9]);
  });

  test("FW-ENV-05 sequences beyond 2^53 keep their order among the smaller ones", () => {
    const big = 9_007_199_254_740_993n;
    const lanes = new OrderedLanes(() => "", true);
    for (const sequence of [big + 1n, 9_007_199_254_740_991, big]) lanes.add(entryOf({ sequence }));
    expect(sequences(lanes.take(0, ten))).toEqual([9_007_199_254_740_991, big, big + 1n]);
  });
});

describe("a lost lease", () => {
  test("FW-RUN-13 the lane gives back its later messages and admits again only in sequence order", () => {
    const entries = [1, 2, 3].map((sequence) => entry(sequence));
    const lanes = lanesOf(entries);
    expect(sequences(lanes.loseLease(entries[0] as FlightEntry))).toEqual([2, 3]);
    expect(lanes.waiting()).toEqual([]);
    expect(lanes.awaited()).toEqual([1, 2, 3]);
    lanes.add(entry(3));
    lanes.add(entry(4));
    expect(lanes.take(0, ten)).toEqual([]);
    lanes.add(entry(1));
    expect(sequences(lanes.take(0, { ...ten, batchSize: 1 }))).toEqual([1]);
    lanes.settleWrite(entry(1));
    expect(lanes.isWaiting).toBe(true);
    lanes.add(entry(2));
    expect(lanes.isWaiting).toBe(false);
  });

  test("FW-RUN-13 messages before the lost one may go", () => {
    const entries = [1, 2, 3].map((sequence) => entry(sequence));
    const lanes = lanesOf(entries);
    lanes.loseLease(entries[1] as FlightEntry);
    expect(sequences(lanes.take(0, ten))).toEqual([1]);
  });

  test("FW-RUN-13 a lane goes on without a sequence that will not come", () => {
    const entries = [1, 2].map((sequence) => entry(sequence));
    const lanes = lanesOf(entries);
    lanes.loseLease(entries[0] as FlightEntry);
    lanes.add(entry(2));
    expect(lanes.take(0, ten)).toEqual([]);
    lanes.giveUp(1);
    expect(sequences(lanes.take(0, ten))).toEqual([2]);
  });

  test("FW-RUN-13 a later delivery that is kept because it is the last waits here behind the lost one", () => {
    const entries = [1, 2].map((sequence) => entry(sequence));
    const lanes = lanesOf(entries);
    for (const later of lanes.loseLease(entries[0] as FlightEntry)) lanes.add(later);
    expect(lanes.awaited()).toEqual([1]);
    expect(lanes.take(0, ten)).toEqual([]);
    lanes.add(entry(1));
    expect(sequences(lanes.take(0, ten))).toEqual([1, 2]);
  });

  test("FW-RUN-38 an entry that is read again is waited for, and its later messages stay", () => {
    const held = entry(1);
    const lanes = lanesOf([held, entry(2)]);
    lanes.remove(held);
    lanes.expect(held);
    expect(lanes.take(0, ten)).toEqual([]);
    lanes.add(held);
    expect(sequences(lanes.take(0, ten))).toEqual([1, 2]);
  });
});

describe("standing still after a restart", () => {
  test("FW-RUN-13 nothing goes until the lanes may go on", () => {
    const lanes = new OrderedLanes(bySubject, true);
    lanes.standStill();
    for (const sequence of [9, 10, 11]) lanes.add(entry(sequence));
    lanes.add(entry(12, "b"));
    expect(lanes.isWaiting).toBe(true);
    expect(lanes.take(0, ten)).toEqual([]);
    expect(lanes.ready(0, ten).messages).toBe(0);
    lanes.goOn();
    expect(sequences(lanes.take(0, ten))).toEqual([9, 10, 11, 12]);
  });
});

describe("parking behind poison", () => {
  test("FW-RUN-36 gives out the waiting ones in order, stops the lane alone, and opens it again", () => {
    const lanes = lanesOf([entry(1), entry(2), entry(3), entry(4, "b")]);
    const [one] = lanes.take(0, { ...ten, batchSize: 1 }) as [FlightEntry];
    const parked = lanes.park(one);
    expect(sequences(parked)).toEqual([2, 3]);
    const late = entry(5);
    lanes.add(late);
    expect([lanes.isParked(late), lanes.isParked(entry(6))]).toEqual([true, false]);
    expect(sequences(lanes.take(0, ten))).toEqual([4]);
    lanes.unpark();
    expect(lanes.isParked(late)).toBe(false);
    for (const each of [...parked, one]) lanes.add(each);
    lanes.settleWrite(one);
    expect(sequences(lanes.take(0, ten))).toEqual([1, 2, 3, 5]);
  });

  test("FW-RUN-36 a parked lane whose messages all went stays parked, and is forgotten when it opens", () => {
    const lanes = lanesOf([entry(1)]);
    const [one] = lanes.take(0, ten) as [FlightEntry];
    lanes.park(one);
    lanes.settleWrite(one);
    const next = entry(2);
    lanes.add(next);
    expect(lanes.isParked(next)).toBe(true);
    lanes.remove(next);
    lanes.unpark();
    lanes.add(entry(3));
    expect(sequences(lanes.take(0, ten))).toEqual([3]);
  });
});

describe("turns", () => {
  test("FW-RUN-12 a lane that is always busy starves nobody, with one slot and batches smaller than its queue", () => {
    for (const wholeLane of [true, false]) {
      const lanes = new OrderedLanes(bySubject, wholeLane);
      let next = 1;
      const refill = (): void => {
        for (let count = 0; count < 3; count += 1) {
          lanes.add(entry(next));
          next += 1;
        }
      };
      refill();
      lanes.add(entry(900_000, "b"));
      lanes.add(entry(900_001, "c"));
      const served = new Set<string>();
      for (let turn = 0; turn < 3; turn += 1) {
        refill();
        const batch = lanes.take(0, { ...ten, batchSize: 1 });
        for (const each of batch) {
          served.add(bySubject(each));
          lanes.settleWrite(each);
        }
      }
      expect([...served].sort()).toEqual(["events.a", "events.b", "events.c"]);
    }
  });

  test("FW-RUN-09 a message too large for the rest of a batch begins the next one", () => {
    const lanes = lanesOf([entry(1, "a"), entry(2, "b", { bytes: 5000 }), entry(3, "c")]);
    const first = lanes.take(0, ten);
    expect(sequences(first)).toEqual([1]);
    expect(sequences(lanes.take(0, ten))).toEqual([2]);
    expect(sequences(lanes.take(0, ten))).toEqual([3]);
  });

  test("FW-ERR-03 what must be written alone is written alone, also among other lanes, and at once", () => {
    const lanes = lanesOf([entry(1, "a"), entry(2, "b", { single: true }), entry(3, "c")]);
    expect(lanes.ready(0, ten).messages).toBeGreaterThanOrEqual(ten.batchSize);
    expect(sequences(lanes.take(0, ten))).toEqual([1]);
    expect(sequences(lanes.take(0, ten))).toEqual([2]);
    expect(sequences(lanes.take(0, ten))).toEqual([3]);
  });
});

describe("bookkeeping", () => {
  test("FW-RUN-09 counts up to one batch what may go now", () => {
    const lanes = lanesOf([entry(1, "a", { arrivedAt: 7 }), entry(2, "a", { arrivedAt: 9 }), entry(3, "b", { arrivedAt: 3, retryAt: 50 })]);
    expect(lanes.ready(10, ten)).toEqual({ messages: 2, bytes: 20, firstAt: 7 });
    expect(lanes.ready(10, { ...ten, batchSize: 1 })).toEqual({ messages: 1, bytes: 10, firstAt: 7 });
    expect(lanes.ready(50, ten)).toEqual({ messages: 3, bytes: 30, firstAt: 3 });
  });

  test("FW-RUN-13 no time to wake at while the lane is being written: the end of the write is the event", () => {
    const lanes = lanesOf([entry(1)]);
    const [one] = lanes.take(0, ten) as [FlightEntry];
    lanes.add(entry(2, "a", { retryAt: 90 }));
    expect(lanes.nextAt(0)).toBeNull();
    lanes.settleWrite(one);
    expect(lanes.nextAt(0)).toBe(90);
  });

  test("FW-RUN-33 another epoch begins with nothing, and a write that began before blocks no lane when it ends", () => {
    const lanes = lanesOf([entry(1), entry(2)]);
    const [one] = lanes.take(0, { ...ten, batchSize: 1 }) as [FlightEntry];
    lanes.standStill();
    lanes.clear();
    expect([lanes.waiting(), lanes.awaited(), lanes.standsStill, lanes.isWaiting]).toEqual([[], [], false, false]);
    const fresh = entry(1);
    lanes.add(fresh);
    expect(lanes.take(0, ten)).toEqual([fresh]);
    lanes.settleWrite(one);
    lanes.add(entry(2));
    expect(lanes.take(0, ten)).toEqual([]);
    lanes.settleWrite(fresh);
    expect(sequences(lanes.take(0, ten))).toEqual([2]);
  });
});
