import fc from "fast-check";
import { expect, test } from "vitest";
import { LineBuffer } from "../src/line-buffer.js";

test("FW-FILE-09 lines become exactly their UTF-8 bytes, whatever their number and length", () => {
  const line = fc.oneof(
    fc.string({ unit: "grapheme", maxLength: 50 }),
    fc.tuple(fc.constantFrom("a", "é", "€", "😀"), fc.integer({ min: 0, max: 40_000 })).map(([unit, count]) => unit.repeat(count)),
  );
  fc.assert(
    fc.property(fc.array(line, { maxLength: 12 }), fc.integer({ min: 1, max: 1000 }), (lines, expected) => {
      const buffer = new LineBuffer(expected);
      for (const one of lines) buffer.add(one);
      expect(buffer.bytes().equals(Buffer.from(lines.map((one) => `${one}\n`).join(""), "utf8"))).toBe(true);
    }),
    { numRuns: 60 },
  );
});
