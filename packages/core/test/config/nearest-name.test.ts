import fc from "fast-check";
import { expect, test } from "vitest";
import { editDistance, nearestName } from "../../src/config/nearest-name.js";
import { configurationSections } from "../../src/config/schema.js";

const known = Object.keys(configurationSections.shape.delivery.unwrap().shape);

test("FW-CFG-01 the distance counts insertions, deletions, substitutions and swaps", () => {
  expect([
    editDistance("", "abc"),
    editDistance("abc", "abc"),
    editDistance("abc", "acb"),
    editDistance("kitten", "sitting"),
    editDistance("batch", "bach"),
  ]).toEqual([3, 0, 1, 3, 1]);
});

test("FW-CFG-01 the distance is symmetric, zero only for equals, and keeps to the triangle for single edits", () => {
  const word = fc.string({ maxLength: 12 });
  fc.assert(
    fc.property(word, word, (left, right) => {
      expect(editDistance(left, right)).toBe(editDistance(right, left));
      expect(editDistance(left, right) === 0).toBe(left === right);
      expect(editDistance(left, right)).toBeLessThanOrEqual(Math.max(left.length, right.length));
    }),
  );
});

test("FW-CFG-01 any known name with one letter changed, dropped, doubled or swapped finds its way back, or to one as near", () => {
  const name = fc.constantFrom(...known.filter((each) => each.length > 4));
  fc.assert(
    fc.property(name, fc.nat(), fc.constantFrom("drop", "double", "change", "swap"), (right, seed, kind) => {
      const at = seed % (right.length - 1);
      const head = right.slice(0, at);
      const letter = right[at] as string;
      const tail = right.slice(at + 1);
      const wrong = {
        drop: head + tail,
        double: head + letter + letter + tail,
        change: `${head}q${tail}`,
        swap: head + (tail[0] as string) + letter + tail.slice(1),
      }[kind];
      const found = nearestName(wrong, known);
      expect(found).not.toBeNull();
      expect(editDistance(wrong, found as string)).toBeLessThanOrEqual(1);
    }),
  );
});

test("FW-CFG-01 dashes, capitals and a missing half are understood; what is far from all has no suggestion", () => {
  expect(nearestName("Batch-Size", known)).toBe("batch_size");
  expect(nearestName("linger", known)).toBe("linger_ms");
  expect(nearestName("flight", ["in_flight", "other"])).toBe("in_flight");
  expect(nearestName("something_else_entirely", known)).toBeNull();
  expect(nearestName("x".repeat(1_000_000), known)).toBeNull();
});
