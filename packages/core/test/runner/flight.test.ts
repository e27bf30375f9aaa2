import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Flight, type FlightEntry } from "../../src/runner/flight.js";
import { admitted } from "../fakes/entries.js";

type Step =
  | { readonly kind: "admit"; readonly sequence: number; readonly bytes: number }
  | { readonly kind: "release" | "hold" | "unhold" | "settling"; readonly pick: number }
  | { readonly kind: "fail" | "forget"; readonly sequence: number }
  | { readonly kind: "clear" };

const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof(
    {
      weight: 6,
      arbitrary: fc.record({
        kind: fc.constant("admit" as const),
        sequence: fc.integer({ min: 1, max: 30 }),
        bytes: fc.integer({ min: 0, max: 999 }),
      }),
    },
    { weight: 8, arbitrary: fc.record({ kind: fc.constantFrom("release", "hold", "unhold", "settling"), pick: fc.nat(60) }) },
    { weight: 3, arbitrary: fc.record({ kind: fc.constantFrom("fail", "forget"), sequence: fc.integer({ min: 1, max: 30 }) }) },
    { weight: 1, arbitrary: fc.constant({ kind: "clear" as const }) },
  ),
  { maxLength: 120 },
);

describe("room of the flight", () => {
  test("FW-RUN-08 counts exactly what is fetched, unsettled and not held, whatever happens in whatever order, also twice", () => {
    fc.assert(
      fc.property(steps, (all) => {
        const flight = new Flight();
        const ever: FlightEntry[] = [];
        const failures = new Map<number, number>();
        for (const step of all) {
          if (step.kind === "admit") {
            if (flight.get(step.sequence) === undefined) ever.push(admitted(flight, { sequence: step.sequence }, { bytes: step.bytes }));
          } else if (step.kind === "clear") {
            const before = [...flight.entries()];
            expect(flight.clear()).toEqual(before);
            failures.clear();
          } else if (step.kind === "fail") {
            const count = (failures.get(step.sequence) ?? 0) + 1;
            failures.set(step.sequence, count);
            expect(flight.fail(step.sequence)).toBe(count);
          } else if (step.kind === "forget") {
            failures.delete(step.sequence);
            flight.forget(step.sequence);
          } else if ("pick" in step && ever.length > 0) {
            const entry = ever[step.pick % ever.length] as FlightEntry;
            if (step.kind === "release") flight.release(entry);
            if (step.kind === "hold") flight.hold(entry, "permanent");
            if (step.kind === "unhold") flight.unhold(entry);
            if (step.kind === "settling" && entry.state === "waiting") entry.state = "settling";
          }
          const here = ever.filter((entry) => flight.get(entry.sequence) === entry);
          const free = here.filter(({ state }) => state !== "held");
          expect([...flight.entries()]).toEqual(here);
          expect(flight.size).toBe(here.length);
          expect(flight.held).toBe(here.length - free.length);
          expect(flight.messages).toBe(free.length);
          expect(flight.bytes).toBe(free.reduce((sum, { bytes }) => sum + bytes, 0));
          for (const entry of ever) expect(flight.has(entry)).toBe(here.includes(entry));
          for (let sequence = 1; sequence <= 30; sequence += 1) expect(flight.failures(sequence)).toBe(failures.get(sequence) ?? 0);
        }
      }),
    );
  });

  test("FW-RUN-37 an entry let go is not the later one of its sequence: its outcome settles nothing and frees no room", () => {
    const flight = new Flight();
    const first = admitted(flight, { sequence: 7 }, { bytes: 10 });
    flight.release(first);
    const second = admitted(flight, { sequence: 7, count: 2 }, { bytes: 20 });
    expect([flight.has(first), flight.has(second)]).toEqual([false, true]);
    flight.release(first);
    flight.hold(first, "permanent");
    flight.unhold(first);
    expect([flight.get(7), flight.messages, flight.bytes, flight.held]).toEqual([second, 1, 20, 0]);
  });
});

describe("failure counts", () => {
  test("FW-RUN-20 outlive a release, because a message given back comes again, and end when it is settled", () => {
    const flight = new Flight();
    const entry = admitted(flight, { sequence: 3 });
    flight.fail(3);
    flight.release(entry);
    admitted(flight, { sequence: 3, count: 2 });
    expect(flight.fail(3)).toBe(2);
    flight.forget(3);
    expect(flight.failures(3)).toBe(0);
  });

  test("FW-RUN-20 are bounded: the message that failed longest ago is forgotten first", () => {
    const flight = new Flight(3);
    for (const sequence of [1, 2, 3, 1, 4]) flight.fail(sequence);
    expect([1, 2, 3, 4].map((sequence) => flight.failures(sequence))).toEqual([2, 0, 1, 1]);
  });
});

describe("what is ours of the consumer's pending messages", () => {
  test("FW-RUN-13 leaves out what is being settled and what was delivered after the reading", () => {
    const flight = new Flight();
    const entries = [1, 2, 3, 4].map((sequence) => admitted(flight, { sequence, consumerSequence: sequence + 10 }));
    (entries[0] as FlightEntry).state = "settling";
    flight.hold(entries[1] as FlightEntry, "permanent");
    expect(flight.unsettled(13)).toBe(2);
    expect(flight.unsettled(14)).toBe(3);
    expect(flight.unsettled(9_007_199_254_740_993n)).toBe(3);
    expect(flight.unsettled(0)).toBe(0);
  });
});

test("FW-OBS-02 the oldest age is that of what came first and is still here, never below zero", () => {
  const flight = new Flight();
  expect(flight.oldestAge(5000)).toBe(0);
  const first = admitted(flight, { sequence: 9 }, { at: 1000 });
  admitted(flight, { sequence: 3 }, { at: 3000 });
  flight.hold(first, "permanent");
  expect([flight.oldestAge(5000), flight.oldestAge(500)]).toEqual([4000, 0]);
  flight.release(first);
  expect(flight.oldestAge(5000)).toBe(2000);
});
