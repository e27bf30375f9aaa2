import fc from "fast-check";
import { expect, test } from "vitest";
import { SegmentIndex } from "../src/segment-index.js";
import { SegmentIndexes } from "../src/segment-indexes.js";
import { SequenceRanges } from "../src/sequence-ranges.js";

test("FW-FILE-09 ranges hold exactly what was added, in as few runs as there are", () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 60 }), { maxLength: 80 }), (values) => {
      const ranges = new SequenceRanges();
      const model = new Set<number>();
      for (const value of values) {
        expect(ranges.add(value)).toBe(!model.has(value));
        model.add(value);
      }
      for (let value = -1; value <= 61; value += 1) expect(ranges.has(value)).toBe(model.has(value));
      expect(ranges.size).toBe([...model].filter((value) => !model.has(value - 1)).length);
    }),
  );
});

test("FW-FILE-09 a segment's index is exact over keys of any kind and order", () => {
  const part = fc.constantFrom("", "a", "EVENTS", "x.y");
  const key = fc.oneof(
    fc
      .tuple(part, part, part, fc.constantFrom("", "5", "17"), fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }))
      .map(([account, domain, stream, created, sequence]) => `js:1:${account}:${domain}:${stream}:${created}:${sequence}`),
    fc.tuple(part, part, fc.integer({ min: 0, max: 9 })).map(([account, stream, sequence]) => `js:1:${account}::${stream}:5:${sequence}`),
    fc.constantFrom(
      "id:1:EVENTS:7",
      "id:1:EVENTS:07",
      "sha256:1:a:7",
      "js:1:::EVENTS:5:07",
      "js:1:::EVENTS:5:",
      "js:1:::EVENTS:5:7x",
      "",
      "7",
      ":7",
    ),
  );
  fc.assert(
    fc.property(fc.array(key, { maxLength: 60 }), fc.array(key, { maxLength: 60 }), (added, asked) => {
      const index = new SegmentIndex();
      for (const one of added) index.add(one);
      for (const one of [...added, ...asked]) expect(index.has(one)).toBe(added.includes(one));
    }),
  );
});

test("FW-FILE-09 a long run of sequences costs one entry", () => {
  const index = new SegmentIndex();
  for (let sequence = 1; sequence <= 50_000; sequence += 1) index.add(`js:1:::EVENTS:5:${sequence}`);
  expect(index.size).toBe(1);
});

test("FW-FILE-09 indexes forget whole segments, oldest first, and never claim to know what they forgot", () => {
  const indexes = new SegmentIndexes(10);
  for (const segment of ["one", "two", "three"]) {
    indexes.begin(segment);
    indexes.add(
      segment,
      [2, 4, 6].map((sequence) => `js:1:::${segment}:5:${sequence}`),
    );
  }
  expect(["one", "two", "three"].map((segment) => indexes.knows(segment))).toEqual([false, true, true]);
  expect(["one", "two", "three"].map((segment) => indexes.has(`js:1:::${segment}:5:4`))).toEqual([false, true, true]);
  indexes.add("one", ["js:1:::one:5:9"]);
  expect([indexes.knows("one"), indexes.has("js:1:::one:5:9")]).toEqual([false, true]);
});

test("FW-FILE-09 a segment larger than the limit is forgotten, not half remembered", () => {
  const indexes = new SegmentIndexes(10);
  indexes.begin("one");
  indexes.add(
    "one",
    Array.from({ length: 20 }, (_, index) => `id:1:EVENTS:${index}`),
  );
  expect([indexes.knows("one"), indexes.has("id:1:EVENTS:3")]).toEqual([false, false]);
});
