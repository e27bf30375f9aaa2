import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { RangeList } from "../../src/verify/range-list.js";

/** The sequences of ranges, one by one. */
function spread(list: RangeList): number[] {
  return list.ranges.flatMap(([first, last]) => Array.from({ length: last - first + 1 }, (_, index) => first + index));
}

describe("RangeList", () => {
  test("FW-CLI-07 any sequences in order: the ranges hold just these, and none could be joined", () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.nat({ max: 300 }), { maxLength: 200 }), (numbers) => {
        const sequences = numbers.sort((left, right) => left - right);
        const list = new RangeList();
        for (const sequence of sequences) list.add(sequence);
        expect(spread(list)).toEqual(sequences);
        expect([list.count, list.unlisted]).toEqual([sequences.length, 0]);
        for (const [index, [first]] of list.ranges.entries())
          if (index > 0) expect(first).toBeGreaterThan((list.ranges[index - 1]?.[1] ?? 0) + 1);
      }),
    );
  });

  test("FW-CLI-07 beyond the limit it counts and lists no more, and what it lists stays right", () => {
    const list = new RangeList(2);
    for (const sequence of [1, 2, 5, 6, 9, 10, 12]) list.add(sequence);
    expect(list.ranges).toEqual([
      [1, 2],
      [5, 6],
    ]);
    expect([list.count, list.unlisted]).toEqual([7, 3]);
    list.add(13);
    expect([list.ranges.length, list.count, list.unlisted]).toEqual([2, 8, 4]);
  });

  test("refuses a sequence that is not above the last one", () => {
    const list = new RangeList();
    list.add(5);
    expect(() => list.add(5)).toThrow(RangeError);
    expect(() => list.add(4)).toThrow(RangeError);
  });
});
