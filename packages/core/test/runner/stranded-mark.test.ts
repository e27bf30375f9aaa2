import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { readMark, writeMark } from "../../src/runner/stranded-mark.js";
import { includes, rangesOf, sequencesOf } from "../../src/source/sequence-ranges.js";

const sequences = fc.uniqueArray(fc.integer({ min: 1, max: 100_000 }), { maxLength: 200 });

describe("FW-RUN-21 the text of a mark", () => {
  test("names ranges, possible ones apart, and nothing by no text", () => {
    expect(writeMark({ certain: rangesOf([17, 20, 21, 22]), possible: [[30, 900]] })).toBe("17,20-22,~30-900");
    expect(writeMark({ certain: rangesOf([35]), possible: [[30, 40]] })).toBe("~30-34,35,~36-40");
    expect(writeMark({ certain: [], possible: [] })).toBeNull();
    expect(readMark(null)).toEqual({ certain: [], possible: [] });
  });

  test("is read as it was written while there is room", () => {
    fc.assert(
      fc.property(sequences, sequences, (certain, others) => {
        const stranded = { certain: rangesOf(certain), possible: rangesOf(others.filter((each) => !certain.includes(each))) };
        expect(readMark(writeMark(stranded, 1_000_000))).toEqual(stranded);
      }),
    );
  });

  test("in little room names more, never fewer, and calls only that certain which is", () => {
    fc.assert(
      fc.property(sequences, sequences, fc.integer({ min: 20, max: 300 }), (certain, others, bytes) => {
        const text = writeMark({ certain: rangesOf(certain), possible: rangesOf(others) }, bytes);
        const read = readMark(text);
        expect(text?.length ?? 0).toBeLessThanOrEqual(bytes);
        for (const each of [...certain, ...others])
          expect(includes(read?.certain ?? [], each) || includes(read?.possible ?? [], each)).toBe(true);
        for (const each of sequencesOf(read?.certain ?? [])) expect(certain).toContain(each);
      }),
    );
  });

  test("of 100,000 scattered messages fits in 8 KiB, and joins what lies close", () => {
    const scattered = Array.from({ length: 100_000 }, (_, index) => 1 + 2 * index + (index >= 50_000 ? 1_000_000 : 0));
    const text = writeMark({ certain: rangesOf(scattered), possible: [] }) ?? "";
    expect(text.length).toBeLessThanOrEqual(8192);
    const read = readMark(text);
    expect(scattered.every((each) => includes(read?.certain ?? [], each) || includes(read?.possible ?? [], each))).toBe(true);
    expect(includes(read?.possible ?? [], 500_000)).toBe(false);
  });

  test("that somebody else wrote is none", () => {
    for (const text of ["x", "5-3", "0", "1,,2", "-5", "1-2-3", "~", "1 "]) expect([text, readMark(text)]).toEqual([text, null]);
  });
});
