import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Flight, type FlightEntry } from "../../src/runner/flight.js";
import { Leases } from "../../src/runner/lease.js";
import type { ConsumerDeadlines } from "../../src/runner/pipeline-settings.js";
import { admitted } from "../fakes/entries.js";
import { positionOf } from "../fakes/positions.js";

const deadlines: ConsumerDeadlines = { ackWaitMs: 30_000, backoffMs: [], maxDeliver: null, maxAckPending: null };
const beating = { enabled: true, intervalMs: 5000, maxBeats: Number.POSITIVE_INFINITY };

/** A flight under a clock by hand; what is beaten and what is lost is kept. */
class Watched {
  readonly flight = new Flight();
  readonly beaten: unknown[] = [];
  readonly lost: unknown[] = [];
  readonly leases: Leases;
  refuses = new Set<unknown>();
  whenLost: (entry: FlightEntry) => void = () => undefined;

  constructor(heartbeat: Partial<typeof beating> = {}, consumer: Partial<ConsumerDeadlines> = {}, inOrder = false) {
    this.leases = new Leases({ ...beating, ...heartbeat }, { ...deadlines, ...consumer }, inOrder);
  }

  admit(sequence: number, at: number, count = 1): FlightEntry {
    const entry = admitted(this.flight, { sequence, count }, { at });
    this.leases.renew(entry, at);
    return entry;
  }

  tick(now: number): void {
    this.leases.tick(this.flight, now, {
      extend: (entry) => {
        if (this.refuses.has(entry.sequence)) return false;
        this.beaten.push(entry.sequence);
        return true;
      },
      lost: (entry) => {
        this.lost.push(entry.sequence);
        this.whenLost(entry);
      },
    });
  }
}

describe("interval and deadline", () => {
  test.each([
    [5000, 30_000, [], 1, 30_000, 5000],
    [5000, 9000, [], 1, 9000, 3000],
    [5000, 30_000, [1000, 60_000], 1, 1000, 333],
    [5000, 30_000, [1000, 60_000], 2, 60_000, 5000],
    [5000, 30_000, [1000, 60_000], 7, 60_000, 5000],
  ])(
    "FW-RUN-15 interval_ms %i, ack_wait %i, BackOff %j, delivery %i: deadline %i, a beat each %i",
    (intervalMs, ackWaitMs, backoffMs, count, deadline, interval) => {
      const { leases } = new Watched({ intervalMs }, { ackWaitMs, backoffMs });
      expect([leases.deadline(count), leases.interval(count)]).toEqual([deadline, interval]);
    },
  );
});

describe("beats", () => {
  test("FW-RUN-15 every entry is beaten in time whatever it waits for, but not once its settlement began", () => {
    const watched = new Watched();
    const states = ["waiting", "writing", "held", "settling"] as const;
    for (const [index, state] of states.entries()) {
      const entry = watched.admit(index + 1, 0);
      if (state === "held") watched.flight.hold(entry, "permanent");
      else entry.state = state;
    }
    watched.tick(4999);
    expect(watched.beaten).toEqual([]);
    watched.tick(5000);
    expect(watched.beaten).toEqual([1, 2, 3]);
    watched.tick(5100);
    expect(watched.beaten).toEqual([1, 2, 3]);
    watched.tick(10_000);
    expect(watched.beaten).toEqual([1, 2, 3, 1, 2, 3]);
    expect(watched.lost).toEqual([]);
  });

  test("FW-RUN-16 a beat that fails is counted and tried again at the next tick, for that message only", () => {
    const watched = new Watched();
    for (const sequence of [1, 2]) watched.admit(sequence, 0);
    watched.refuses = new Set([1]);
    watched.tick(5000);
    watched.tick(5100);
    expect([watched.beaten, watched.leases.failed]).toEqual([[2], 2]);
    watched.refuses.clear();
    watched.tick(5200);
    expect(watched.beaten).toEqual([2, 1]);
  });

  test("FW-RUN-15 no more than max_heartbeats for one delivery, and none when they are off", () => {
    const watched = new Watched({ maxBeats: 2 });
    watched.admit(1, 0);
    for (let now = 0; now < 29_000; now += 100) watched.tick(now);
    expect(watched.beaten).toEqual([1, 1]);
    const silent = new Watched({ enabled: false });
    silent.admit(1, 0);
    for (let now = 0; now <= 30_000; now += 1000) silent.tick(now);
    expect([silent.beaten, silent.lost]).toEqual([[], [1]]);
  });

  test("FW-RUN-37 no beat follows what let an entry go: it would undo the delay of a nak", () => {
    const watched = new Watched();
    const entry = watched.admit(1, 0);
    watched.flight.release(entry);
    watched.tick(100_000);
    expect([watched.beaten, watched.lost]).toEqual([[], []]);
  });
});

describe("beats of an ordered pipeline", () => {
  const ordered = (maxBeats = Number.POSITIVE_INFINITY): Watched => new Watched({ maxBeats }, {}, true);

  test("FW-RUN-13 all leases are renewed together, by sequence, so that they run out in that order when the process dies", () => {
    const watched = ordered();
    for (const [sequence, at] of [
      [2, 0],
      [3, 1000],
      [1, 4000],
      [9, 4900],
    ] as const) {
      watched.admit(sequence, at);
    }
    watched.tick(4900);
    expect(watched.beaten).toEqual([]);
    watched.tick(5000);
    expect(watched.beaten).toEqual([1, 2, 3, 9]);
    watched.tick(9900);
    expect(watched.beaten).toHaveLength(4);
    watched.tick(10_000);
    expect(watched.beaten).toEqual([1, 2, 3, 9, 1, 2, 3, 9]);
  });

  test("FW-RUN-13 a message that came again has a younger lease than the later ones: all are renewed at once, and once", () => {
    const watched = ordered();
    watched.admit(2, 0);
    watched.admit(1, 2000, 2);
    watched.tick(2100);
    expect(watched.beaten).toEqual([1, 2]);
    watched.tick(2200);
    expect(watched.beaten).toEqual([1, 2]);
  });

  test("FW-RUN-16 one beat that fails again and again does not make the others beat more often", () => {
    const watched = ordered();
    for (const sequence of [1, 2]) watched.admit(sequence, 0);
    watched.refuses = new Set([1]);
    for (let now = 0; now <= 9000; now += 100) watched.tick(now);
    expect(watched.beaten).toEqual([2]);
    watched.refuses.clear();
    watched.tick(9100);
    expect(watched.beaten).toEqual([2, 1]);
  });

  test("FW-RUN-15 settling and max_heartbeats hold here as well", () => {
    const watched = ordered(1);
    watched.admit(1, 0).state = "settling";
    watched.admit(2, 0);
    for (let now = 0; now <= 20_000; now += 1000) watched.tick(now);
    expect(watched.beaten).toEqual([2]);
  });
});

describe("lost leases", () => {
  test("FW-RUN-25 what is being settled is not lost: its ack may be there already", () => {
    const watched = new Watched();
    watched.admit(1, 0).state = "settling";
    watched.tick(40_000);
    expect(watched.lost).toEqual([]);
  });

  test("FW-RUN-17 a loop blocked past the deadline loses its leases, once each", () => {
    const watched = new Watched();
    const entry = watched.admit(1, 0);
    watched.tick(30_000);
    watched.tick(30_100);
    expect([watched.lost, entry.late]).toEqual([[1], true]);
  });

  test("FW-RUN-13 what is let go for a lost lease is not leased anew in the same round", () => {
    const watched = new Watched();
    watched.admit(1, 0);
    watched.admit(2, 0);
    watched.whenLost = (entry) => {
      if (entry.sequence === 1) watched.flight.release(entry);
    };
    watched.tick(31_000);
    expect(watched.lost).toEqual([1, 2]);
    expect(watched.beaten).toEqual([2]);
  });

  test("FW-RUN-16 a beat that got through keeps the lease up to the deadline from then", () => {
    const watched = new Watched();
    const entry = watched.admit(1, 0);
    watched.tick(5000);
    expect(entry.leaseUntil).toBe(35_000);
    watched.refuses = new Set([1]);
    for (let now = 5100; now < 35_000; now += 100) watched.tick(now);
    expect(watched.lost).toEqual([]);
    watched.tick(35_000);
    expect(watched.lost).toEqual([1]);
  });

  test("FW-RUN-37 a sequence delivered again starts its lease anew, with the deadline of its new count", () => {
    const watched = new Watched({}, { backoffMs: [1000, 9000] });
    const entry = watched.admit(1, 0);
    watched.tick(1000);
    expect(watched.lost).toEqual([1]);
    entry.position = positionOf({ sequence: 1, count: 2 });
    watched.leases.renew(entry, 1500);
    expect([entry.late, entry.leaseUntil, entry.nextBeatAt]).toEqual([false, 10_500, 4500]);
  });

  test("FW-RUN-15 as long as ticks come in time and beats get through no lease is ever lost", () => {
    const gaps = fc.array(fc.integer({ min: 1, max: 900 }), { minLength: 1, maxLength: 200 });
    fc.assert(
      fc.property(gaps, fc.integer({ min: 3000, max: 60_000 }), fc.integer({ min: 1, max: 20_000 }), (all, ackWaitMs, intervalMs) => {
        const watched = new Watched({ intervalMs }, { ackWaitMs });
        let now = 0;
        let sequence = 0;
        for (const gap of all) {
          now += gap;
          if (sequence < 20) {
            sequence += 1;
            watched.admit(sequence, now);
          }
          watched.tick(now);
        }
        expect(watched.lost).toEqual([]);
      }),
    );
  });
});
