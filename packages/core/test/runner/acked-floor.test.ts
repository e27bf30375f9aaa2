import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { AckedFloor } from "../../src/runner/acked-floor.js";
import type { FlightEntry } from "../../src/runner/flight.js";

function acked(consumerSequenceNumber: number, sequence: number): FlightEntry {
  return { sequence, position: { consumerSequenceNumber } } as unknown as FlightEntry;
}

describe("the acked floor", () => {
  test("FW-RUN-05 starts from the server's floor and moves over our own acks without a gap", () => {
    const floor = new AckedFloor();
    floor.see({ consumer_seq: 10, stream_seq: 100 });
    floor.add([acked(12, 104)]);
    expect(floor.sequence).toBe(100);
    floor.add([acked(11, 102)]);
    expect(floor.sequence).toBe(104);
  });

  test("FW-RUN-05 never moves over a delivery of another process", () => {
    const floor = new AckedFloor();
    floor.see({ consumer_seq: 0, stream_seq: 0 });
    // Delivery 2 went elsewhere.
    floor.add([acked(1, 1), acked(3, 3), acked(4, 4)]);
    expect(floor.sequence).toBe(1);
    floor.see({ consumer_seq: 2, stream_seq: 2 });
    expect(floor.sequence).toBe(4);
  });

  test("FW-RUN-05 another consumer counts anew, and what is behind stays behind", () => {
    const floor = new AckedFloor();
    floor.see({ consumer_seq: 5, stream_seq: 50 });
    floor.reset(true);
    floor.see({ consumer_seq: 0, stream_seq: 50 });
    floor.add([acked(1, 51)]);
    expect(floor.sequence).toBe(51);
  });

  test("FW-RUN-05 another stream has nothing behind", () => {
    const floor = new AckedFloor();
    floor.see({ consumer_seq: 5, stream_seq: 1_000_000 });
    floor.reset(false);
    expect(floor.sequence).toBe(0);
    floor.see({ consumer_seq: 0, stream_seq: 0 });
    floor.add([acked(1, 1)]);
    expect(floor.sequence).toBe(1);
  });

  test("FW-RUN-38 acks beyond a held message do not pile up; the floor goes on with the server's", () => {
    const floor = new AckedFloor(100);
    for (let sequence = 2; sequence <= 150; sequence += 1) floor.add([acked(sequence, sequence)]);
    floor.add([acked(1, 1)]);
    expect(Number(floor.sequence)).toBeLessThan(150);
    floor.see({ consumer_seq: 150, stream_seq: 150 });
    floor.add([acked(151, 151)]);
    expect(floor.sequence).toBe(151);
  });

  test("FW-RUN-05 whatever the order of acks, everything at or below the floor was acked", () => {
    fc.assert(
      fc.property(fc.shuffledSubarray(Array.from({ length: 30 }, (_, index) => index + 1)), (order) => {
        const floor = new AckedFloor();
        const done = new Set<number>();
        for (const sequence of order) {
          floor.add([acked(sequence, sequence)]);
          done.add(sequence);
          for (let below = 1; below <= Number(floor.sequence); below += 1) expect(done.has(below)).toBe(true);
        }
        if (order.length === 30) expect(floor.sequence).toBe(30);
      }),
    );
  });
});
