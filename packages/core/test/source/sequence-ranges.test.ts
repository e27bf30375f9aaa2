import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { includes, rangesOf, sequencesOf, subtract, unite } from "../../src/source/sequence-ranges.js";

const sequences = fc.uniqueArray(fc.integer({ min: 1, max: 40 }), { maxLength: 30 });
const ascending = (list: Iterable<number>): number[] => [...list].sort((a, b) => a - b);

describe("ranges of sequences", () => {
  test("FW-RUN-21 are the sets they stand for, in rising order, apart from one another", () => {
    fc.assert(
      fc.property(sequences, sequences, (left, right) => {
        const [a, b] = [rangesOf(left), rangesOf(right)];
        expect([...sequencesOf(a)]).toEqual(ascending(left));
        expect([...sequencesOf(unite(a, b))]).toEqual(ascending(new Set([...left, ...right])));
        expect([...sequencesOf(subtract(a, b))]).toEqual(ascending(left.filter((each) => !right.includes(each))));
        for (let each = 0; each <= 41; each += 1) expect(includes(a, each)).toBe(left.includes(each));
        for (const [index, [first]] of a.entries()) if (index > 0) expect(Number(first)).toBeGreaterThan(Number(a[index - 1]?.[1]) + 1);
      }),
    );
  });

  test("FW-ENV-05 stay exact beyond 2^53", () => {
    const big = 2n ** 60n;
    const ranges = unite(rangesOf([big, big + 1n]), [[3, 5]]);
    expect(ranges).toEqual([
      [3, 5],
      [big, big + 1n],
    ]);
    expect(subtract(ranges, [[4, big]])).toEqual([
      [3, 3],
      [big + 1n, big + 1n],
    ]);
    expect([includes(ranges, big + 1n), includes(ranges, big + 2n)]).toEqual([true, false]);
    expect(subtract([[big, big]], [[big + 1n, big + 9n]])).toEqual([[big, big]]);
    expect(subtract([[Number.MAX_SAFE_INTEGER, 2n ** 53n]], [[2n ** 53n, 2n ** 53n]])).toEqual([
      [Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER],
    ]);
  });
});
