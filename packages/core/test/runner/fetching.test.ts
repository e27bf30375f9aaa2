import { describe, expect, test } from "vitest";
import { Fetching } from "../../src/runner/fetching.js";
import { Flight } from "../../src/runner/flight.js";
import { FreeLanes } from "../../src/runner/free-lanes.js";
import type { Lanes } from "../../src/runner/lanes.js";
import { OrderedLanes } from "../../src/runner/ordered-lanes.js";
import type { JetStreamSource } from "../../src/source/jetstream-source.js";
import { admitted } from "../fakes/entries.js";
import { pipelineSettingsOf } from "../fakes/runner-settings.js";

/** A source that keeps what it is asked for. */
class AskedSource {
  readonly pulls: (readonly [number, number | null])[] = [];
  mayPull = true;
  parkedMessages = 0;
  pinned = 0;

  get openPulls(): number {
    return this.pulls.length;
  }

  get openMessages(): number {
    return this.pulls.reduce((sum, [messages]) => sum + messages, 0);
  }

  get openBytes(): number {
    return this.pulls.reduce((sum, [, bytes]) => sum + (bytes ?? 0), 0);
  }

  pull(messages: number, bytes: number | null): void {
    this.pulls.push([messages, bytes]);
  }

  keepPin(): void {
    this.pinned += 1;
  }
}

function fetchingOf(lanes: Lanes = new FreeLanes()) {
  const time = { now: 0, since: 0 };
  const source = new AskedSource();
  const flight = new Flight();
  const settings = pipelineSettingsOf({
    maxMessages: 25,
    maxBytes: 100_000,
    deadlines: { ackWaitMs: 1000, backoffMs: [], maxDeliver: null, maxAckPending: 40 },
  });
  const fetching = new Fetching(source as unknown as JetStreamSource, flight, lanes, settings, time, () => time.now);
  return { source, flight, time, fetching };
}

describe("fetching", () => {
  test("FW-RUN-08 asks for the room there is, one batch ahead of need", () => {
    const { source, fetching } = fetchingOf();
    fetching.refill(false);
    expect(source.pulls).toEqual([
      [10, 10_000],
      [10, 10_000],
    ]);
    fetching.refill(false);
    expect(source.pulls).toHaveLength(2);
  });

  test("FW-RUN-08 what is in the flight, waits for the epoch or may still come takes room; what is held does not", () => {
    const { source, flight, fetching } = fetchingOf();
    for (let sequence = 1; sequence <= 18; sequence += 1) admitted(flight, { sequence }, { bytes: 10 });
    source.parkedMessages = 3;
    fetching.refill(false);
    expect(source.openMessages).toBe(4);
    source.pulls.length = 0;
    for (const entry of [...flight.entries()].slice(0, 10)) flight.hold(entry, "permanent");
    fetching.refill(false);
    // The rest of the room is a crumb, which is not asked for.
    expect(source.openMessages).toBe(10);
  });

  test("FW-RUN-13 the room of what is missing is not given to later messages, but a batch may always come: it may be due already", () => {
    const lanes = new OrderedLanes(() => "", true);
    for (const [missing, asked] of [
      [0, 20],
      [8, 17],
      [15, 10],
      [500, 10],
    ] as const) {
      const { source, fetching } = fetchingOf(lanes);
      lanes.standStill();
      lanes.elsewhere = missing;
      fetching.refill(false);
      expect(source.openMessages).toBe(asked);
    }
  });

  test("FW-RUN-13 a flight full of later messages does not keep out the missing ones: they are asked for once they must be due", () => {
    const lanes = new OrderedLanes(() => "", true);
    const { source, flight, time, fetching } = fetchingOf(lanes);
    for (let sequence = 1; sequence <= 30; sequence += 1) admitted(flight, { sequence }, { bytes: 10 });
    lanes.standStill();
    lanes.elsewhere = 40;
    time.since = 500;
    const askedAt = (now: number): number => {
      source.pulls.length = 0;
      time.now = now;
      fetching.refill(false);
      return source.openMessages;
    };
    expect([askedAt(1499), askedAt(1500)]).toEqual([0, 10]);
    // Nothing of it came: not again before the longest deadline. Something came: the rest is due as well.
    expect([askedAt(1600), askedAt(2500), askedAt(2600)]).toEqual([0, 10, 0]);
    lanes.elsewhere = 35;
    expect(askedAt(2700)).toBe(10);
    // New ones came all the same: as many again as the limit and a batch, and no more.
    for (let sequence = 31; sequence <= 60; sequence += 1) admitted(flight, { sequence }, { bytes: 10 });
    lanes.elsewhere = 30;
    expect(askedAt(99_000)).toBe(0);
  });

  test("FW-RUN-33 FW-RUN-06 nothing is asked while no pull may be sent", () => {
    const { source, fetching } = fetchingOf();
    source.mayPull = false;
    fetching.refill(false);
    fetching.refill(true);
    expect([source.pulls, source.pinned]).toEqual([[], 0]);
  });

  test("FW-RUN-12 FW-RUN-19 while it pauses only the pin is kept", () => {
    const { source, fetching } = fetchingOf();
    fetching.refill(true);
    expect([source.pulls, source.pinned]).toEqual([[], 1]);
  });

  test("FW-RUN-38 pauses at half of the window held", () => {
    const { source, flight, fetching } = fetchingOf();
    for (let sequence = 1; sequence <= 20; sequence += 1) {
      if (sequence === 20) {
        fetching.refill(false);
        expect(source.openMessages).toBe(20);
        source.pulls.length = 0;
      }
      flight.hold(admitted(flight, { sequence }), "permanent");
    }
    fetching.refill(false);
    expect([source.pulls, source.pinned]).toEqual([[], 1]);
  });

  test("FW-RUN-34 a message too large for any pull is asked for alone, once, when nothing is in flight", () => {
    const { source, flight, fetching } = fetchingOf();
    const entry = admitted(flight, { sequence: 1 });
    fetching.oversized();
    fetching.refill(false);
    expect(source.pulls.every(([, bytes]) => bytes !== null)).toBe(true);
    source.pulls.length = 0;
    flight.release(entry);
    fetching.refill(false);
    expect(source.pulls[0]).toEqual([1, null]);
    source.pulls.length = 0;
    fetching.refill(false);
    expect(source.pulls.every(([, bytes]) => bytes !== null)).toBe(true);
  });
});
