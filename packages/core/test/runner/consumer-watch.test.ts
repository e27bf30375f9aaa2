import { describe, expect, test } from "vitest";
import { ConsumerWatch } from "../../src/runner/consumer-watch.js";
import { Flight } from "../../src/runner/flight.js";
import { FreeLanes } from "../../src/runner/free-lanes.js";
import { OrderedLanes } from "../../src/runner/ordered-lanes.js";
import type { ConsumerState } from "../../src/source/consumer.js";
import { admitted } from "../fakes/entries.js";

interface Reading {
  readonly ackPending?: number;
  readonly pending?: number;
  readonly window?: number;
  readonly floor?: number;
  readonly delivered?: number;
  readonly waiting?: number;
}

function reading({ ackPending = 0, pending = 0, window = 1000, floor = 0, delivered = 1000, waiting = 0 }: Reading): ConsumerState {
  return {
    num_ack_pending: ackPending,
    num_pending: pending,
    num_waiting: waiting,
    ack_floor: { consumer_seq: floor, stream_seq: floor },
    delivered: { consumer_seq: delivered, stream_seq: delivered },
    config: { max_ack_pending: window },
  } as ConsumerState;
}

function orderedParts() {
  const flight = new Flight();
  const lanes = new OrderedLanes(() => "", true);
  return { flight, lanes, watch: new ConsumerWatch(flight, lanes) };
}

describe("what is known of the consumer", () => {
  test.each([
    [{ ackPending: 1000, pending: 1 }, true],
    [{ ackPending: 1200, pending: 1 }, true],
    [{ ackPending: 1000, pending: 0 }, false],
    [{ ackPending: 999, pending: 50 }, false],
    [{ ackPending: 5000, pending: 5, window: 0 }, false],
    [{ ackPending: 5000, pending: 5, window: -1 }, false],
  ])("FW-RUN-38 window full of %j: %s", (given, expected) => {
    const watch = new ConsumerWatch(new Flight(), new FreeLanes());
    watch.see(reading(given), 0);
    expect(watch.windowFull).toBe(expected);
  });

  test("FW-RUN-05 before the first reading nothing is known", () => {
    const watch = new ConsumerWatch(new Flight(), new FreeLanes());
    expect([watch.windowFull, watch.drift, watch.newest]).toEqual([false, null, null]);
  });

  test("FW-RUN-32 keeps how the consumer differs from the configuration, until it does not", () => {
    const watch = new ConsumerWatch(new Flight(), new FreeLanes());
    watch.see(reading({}), 0, "ack_wait expected 1, found 2");
    expect(watch.drift).toBe("ack_wait expected 1, found 2");
    watch.see(reading({}), 0, null);
    expect(watch.drift).toBeNull();
  });
});

describe("a second client", () => {
  test("FW-RUN-12 is seen when two readings in a row show more waiting pulls than ours", () => {
    const watch = new ConsumerWatch(new Flight(), new FreeLanes());
    watch.see(reading({ waiting: 3 }), 2);
    expect(watch.secondClient).toBe(false);
    watch.see(reading({ waiting: 2 }), 2);
    watch.see(reading({ waiting: 3 }), 2);
    expect(watch.secondClient).toBe(false);
    watch.see(reading({ waiting: 3 }), 2);
    expect(watch.secondClient).toBe(true);
    watch.see(reading({ waiting: 1 }), 2);
    expect(watch.secondClient).toBe(false);
  });
});

describe("going on without what does not come", () => {
  test("FW-RUN-13 lanes go on when nothing but our own deliveries is pending", () => {
    const { flight, lanes, watch } = orderedParts();
    const [one, two] = [1, 2].map((sequence) => admitted(flight, { sequence }));
    for (const entry of [one, two]) lanes.add(entry as never);
    lanes.loseLease(one as never);
    flight.release(one as never);
    lanes.add(two as never);
    expect(watch.see(reading({ ackPending: 2 }), 0)).toBe(false);
    expect(lanes.isWaiting).toBe(true);
    expect(watch.see(reading({ ackPending: 1 }), 0)).toBe(true);
    expect(lanes.isWaiting).toBe(false);
  });

  test("FW-RUN-13 after a restart lanes go on when the deliveries of the previous process have come again", () => {
    const { flight, lanes, watch } = orderedParts();
    lanes.standStill();
    admitted(flight, { sequence: 9, count: 2, consumerSequence: 11 });
    expect(watch.see(reading({ ackPending: 2, delivered: 11 }), 0)).toBe(false);
    expect(lanes.standsStill).toBe(true);
    admitted(flight, { sequence: 10, count: 2, consumerSequence: 12 });
    expect(watch.see(reading({ ackPending: 2, delivered: 12 }), 0)).toBe(true);
    expect(lanes.standsStill).toBe(false);
  });

  test("FW-RUN-13 a delivery made after the reading does not stand in for one that is still out", () => {
    const { flight, lanes, watch } = orderedParts();
    lanes.standStill();
    // The server said: one unacknowledged, not ours. Meanwhile a newer one reached us.
    admitted(flight, { sequence: 11, consumerSequence: 11 });
    expect(watch.see(reading({ ackPending: 1, delivered: 10 }), 0)).toBe(false);
    expect(lanes.standsStill).toBe(true);
  });

  test("FW-RUN-13 an ack under way is not counted as ours", () => {
    const { flight, lanes, watch } = orderedParts();
    lanes.standStill();
    const entry = admitted(flight, { sequence: 9 });
    entry.state = "settling";
    expect(watch.see(reading({ ackPending: 1 }), 0)).toBe(false);
  });

  test("FW-RUN-12 without an order nothing waits", () => {
    const watch = new ConsumerWatch(new Flight(), new FreeLanes());
    expect(watch.see(reading({ ackPending: 0 }), 0)).toBe(false);
  });
});
