import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { walkExisting } from "../../src/verify/existing-walk.js";

const sequences = fc.uniqueArray(fc.integer({ min: 1, max: 120 }), { maxLength: 80 });

function nextOf(present: readonly number[]): (sequence: number) => Promise<number | null> {
  const sorted = [...present].sort((left, right) => left - right);
  return async (sequence) => sorted.find((candidate) => candidate >= sequence) ?? null;
}

describe("walkExisting", () => {
  test("FW-CLI-07 any stream and any positions: every position that holds a message is found, and nothing that holds none", async () => {
    await fc.assert(
      fc.asyncProperty(sequences, sequences, async (present, wanted) => {
        const found = new Set<number>();
        await walkExisting(nextOf(present), nextOfPositions(wanted), (sequence) => found.add(sequence));
        expect(wanted.filter((sequence) => found.has(sequence)).sort()).toEqual(
          wanted.filter((sequence) => present.includes(sequence)).sort(),
        );
        for (const sequence of found) expect(present).toContain(sequence);
      }),
    );
  });

  test("FW-CLI-07 a long gap costs one request, and a dense part not more than one for each message and the last answers", async () => {
    let requests = 0;
    const dense = Array.from({ length: 1000 }, (_, index) => 1_000_001 + index);
    const next = nextOf(dense);
    const counted = (sequence: number) => {
      requests += 1;
      return next(sequence);
    };
    const positions = (from: number) => (from <= 1_001_000 ? Math.max(1, from) : null);
    let found = 0;
    await walkExisting(counted, positions, () => {
      found += 1;
    });
    expect(found).toBe(1000);
    expect(requests).toBeLessThan(1100);
  });
});

function nextOfPositions(wanted: readonly number[]): (from: number) => number | null {
  const sorted = [...wanted].sort((left, right) => left - right);
  return (from) => sorted.find((candidate) => candidate >= from) ?? null;
}
