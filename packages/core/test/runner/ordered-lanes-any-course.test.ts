import fc from "fast-check";
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

/** What may become of a message that was written. */
const outcomes = ["stored", "stored", "stored", "again", "later", "unknown"] as const;

interface Step {
  readonly kind: "deliver" | "take" | "end" | "lose" | "wait" | "redeliver" | "delete";
  readonly key: string;
  readonly size: number;
  readonly pick: number;
  readonly outcomes: readonly (typeof outcomes)[number][];
}

const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.record({
    kind: fc.constantFrom(
      "deliver",
      "deliver",
      "deliver",
      "take",
      "take",
      "end",
      "end",
      "lose",
      "wait",
      "redeliver",
      "redeliver",
      "delete",
    ),
    key: fc.constantFrom("a", "b", "c"),
    size: fc.integer({ min: 1, max: 6 }),
    pick: fc.nat(1000),
    outcomes: fc.array(fc.constantFrom(...outcomes), { minLength: 1, maxLength: 6 }),
  }),
  { maxLength: 200 },
);

/** Lanes driven as a pipeline drives them, against a stream that gives again what was given back. */
class Driven {
  readonly lanes: OrderedLanes;
  readonly #wholeLane: boolean;
  now = 1;
  /** Delivered, neither done nor held here: the stream will deliver it again. */
  readonly out = new Map<number, string>();
  readonly here = new Map<number, FlightEntry>();
  readonly writes: FlightEntry[][] = [];
  /** Done in this order, by key. */
  readonly done = new Map<string, number[]>();
  readonly gone = new Set<number>();
  #next = 1;

  constructor(wholeLane: boolean) {
    this.#wholeLane = wholeLane;
    this.lanes = new OrderedLanes(bySubject, wholeLane);
  }

  get delivered(): number {
    return this.#next - 1;
  }

  deliver(key: string): void {
    this.#admit(this.#next, key);
    this.#next += 1;
  }

  redeliver(pick: number): void {
    if (this.out.size === 0) return;
    const [sequence, key] = [...this.out][pick % this.out.size] as [number, string];
    this.out.delete(sequence);
    this.#admit(sequence, key);
  }

  /** The stream drops a message that is out, by its limits. */
  delete(pick: number): void {
    if (this.out.size === 0) return;
    const [sequence] = [...this.out][pick % this.out.size] as [number, string];
    this.out.delete(sequence);
    this.gone.add(sequence);
    this.lanes.giveUp(sequence);
  }

  take(batchSize: number): void {
    const busy = new Set(this.writes.flat().map(bySubject));
    const before = new Set(this.lanes.waiting());
    const batch = this.lanes.take(this.now, { ...ten, batchSize });
    expect(batch.length).toBeLessThanOrEqual(batchSize);
    const perLane = new Map<string, number>();
    for (const each of batch) {
      expect(before.has(each)).toBe(true);
      expect(busy.has(bySubject(each))).toBe(false);
      const last = perLane.get(bySubject(each));
      if (last !== undefined) {
        expect(this.#wholeLane).toBe(true);
        expect(each.sequence).toBeGreaterThan(last);
      }
      perLane.set(bySubject(each), each.sequence as number);
    }
    if (batch.length > 0) this.writes.push(batch);
  }

  end(pick: number, choice: readonly (typeof outcomes)[number][]): void {
    if (this.writes.length === 0) return;
    const [batch] = this.writes.splice(pick % this.writes.length, 1) as [FlightEntry[]];
    const stopped = new Set<string>();
    for (const [index, each] of batch.entries()) {
      const key = bySubject(each);
      const outcome = stopped.has(key) ? "again" : (choice[index % choice.length] as (typeof outcomes)[number]);
      if (outcome !== "stored") stopped.add(key);
      this.#finish(each, outcome);
    }
  }

  lose(pick: number): void {
    const waiting = this.lanes.waiting();
    if (waiting.length === 0) return;
    const lost = waiting[pick % waiting.length] as FlightEntry;
    const later = this.lanes.loseLease(lost);
    for (const each of [lost, ...later]) this.#giveBack(each);
  }

  #finish(each: FlightEntry, outcome: (typeof outcomes)[number]): void {
    const key = bySubject(each);
    if (outcome === "stored") {
      this.here.delete(each.sequence as number);
      this.done.set(key, [...(this.done.get(key) ?? []), each.sequence as number]);
    } else if (outcome === "unknown") {
      for (const later of this.lanes.loseLease(each)) this.#giveBack(later);
      this.#giveBack(each);
    } else {
      each.retryAt = outcome === "later" ? this.now + 10 : 0;
      this.lanes.add(each);
    }
    this.lanes.settleWrite(each);
  }

  #giveBack(each: FlightEntry): void {
    this.here.delete(each.sequence as number);
    this.out.set(each.sequence as number, bySubject(each).slice("events.".length));
  }

  #admit(sequence: number, key: string): void {
    const each = entry(sequence, key);
    this.here.set(sequence, each);
    this.lanes.add(each);
  }
}

describe("any course of things", () => {
  test.each([true, false])(
    "FW-RUN-12 FW-RUN-13 the order of a key is kept, nothing is lost and nothing stands still for ever (whole lanes: %s)",
    (wholeLane) => {
      fc.assert(
        fc.property(steps, (all) => {
          const driven = new Driven(wholeLane);
          for (const step of all) {
            if (step.kind === "deliver") driven.deliver(step.key);
            if (step.kind === "take") driven.take(step.size);
            if (step.kind === "end") driven.end(step.pick, step.outcomes);
            if (step.kind === "lose") driven.lose(step.pick);
            if (step.kind === "wait") driven.now += step.size;
            if (step.kind === "redeliver") driven.redeliver(step.pick);
            if (step.kind === "delete") driven.delete(step.pick);
            // Here is what waits or is being written, each once.
            const writing = driven.writes.flat();
            expect(new Set([...driven.lanes.waiting(), ...writing])).toEqual(new Set(driven.here.values()));
            expect(driven.lanes.waiting().length + writing.length).toBe(driven.here.size);
            expect(driven.lanes.awaited().every((sequence) => driven.out.has(sequence as number))).toBe(true);
          }
          // Then the stream gives again what it has, the sink takes everything, and time goes on: all must come to an end.
          for (let round = 0; driven.here.size + driven.out.size > 0; round += 1) {
            expect(round).toBeLessThan(2 * driven.delivered + 10);
            driven.redeliver(round);
            driven.now += 10;
            driven.take(10);
            while (driven.writes.length > 0) driven.end(0, ["stored"]);
          }
          let count = driven.gone.size;
          for (const order of driven.done.values()) {
            expect(order).toEqual(order.toSorted((a, b) => a - b));
            expect(new Set(order).size).toBe(order.length);
            count += order.length;
          }
          expect(count).toBe(driven.delivered);
        }),
        { numRuns: 300 },
      );
    },
  );
});
