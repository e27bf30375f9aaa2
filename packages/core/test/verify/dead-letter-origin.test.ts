import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { AccountedDeadLetters, type DeadLetterFacts } from "../../src/verify/dead-letter-origin.js";

const created = "2026-01-02T03:04:05.000000006Z";
const pipeline = { stream: "S", consumer: "c", streamCreatedNs: 1_767_323_045_000_000_006n, unknownIncarnation: false };

function entry(changes: Partial<DeadLetterFacts> = {}, record: Record<string, string | null> = {}): DeadLetterFacts {
  return {
    stream: "S",
    streamSequence: 7,
    record: { consumer: "c", stream_created_at: created, ...record },
    chunk: null,
    identity: "id:x",
    ...changes,
  };
}

describe("AccountedDeadLetters", () => {
  test("FW-CLI-07 counts entries of this pipeline and this life of its stream only", () => {
    const accounted = new AccountedDeadLetters(pipeline);
    expect(accounted.add(entry())).toBe(7);
    expect(accounted.add(entry({}, { stream_created_at: "2026-01-02T05:04:05.000000006+02:00" }))).toBe(7);
    expect(accounted.add(entry({ stream: "T" }))).toBeNull();
    expect(accounted.add(entry({}, { consumer: "another" }))).toBeNull();
    expect(accounted.add(entry({}, { stream_created_at: "2026-01-02T03:04:05Z" }))).toBeNull();
    expect(accounted.add(entry({}, { stream_created_at: null }))).toBeNull();
    expect(accounted.add(entry({ record: null }))).toBeNull();
    expect(accounted.add(entry({ streamSequence: null }))).toBeNull();
  });

  test("FW-ENV-07 entries that know no life of the stream count where the configuration allows that", () => {
    const accounted = new AccountedDeadLetters({ ...pipeline, unknownIncarnation: true });
    expect(accounted.add(entry({}, { stream_created_at: null }))).toBe(7);
  });

  test("FW-DLQ-05, FW-CLI-07 a body in chunks counts with the last of them, in any order and with repeats", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 6 }), fc.array(fc.integer({ min: 1, max: 6 }), { maxLength: 30 }), (count, order) => {
        const accounted = new AccountedDeadLetters(pipeline);
        const seen = new Set<number>();
        let complete = false;
        for (const index of order.filter((candidate) => candidate <= count)) {
          seen.add(index);
          if (accounted.add(entry({ chunk: { index, count } })) !== null) complete = true;
        }
        expect(complete).toBe(seen.size === count);
      }),
    );
  });

  test("FW-DLQ-05 parts of two cuts of one body do not complete each other", () => {
    const accounted = new AccountedDeadLetters(pipeline);
    const parts = [
      { index: 1, count: 5 },
      { index: 2, count: 5 },
      { index: 3, count: 3 },
      { index: 1, count: 3 },
    ];
    expect(parts.map((chunk) => accounted.add(entry({ chunk })))).toEqual([null, null, null, null]);
    expect(accounted.add(entry({ chunk: { index: 2, count: 3 } }))).toBe(7);
  });
});
