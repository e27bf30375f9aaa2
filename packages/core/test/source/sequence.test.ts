import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { nextSequence, readSequence, type SequenceNumber } from "../../src/source/sequence.js";

const largest = 18_446_744_073_709_551_615n;
const sequences = fc.oneof(
  fc.bigInt({ min: 0n, max: largest }),
  fc.bigInt({ min: 0n, max: 1_000_000n }),
  fc.bigInt({ min: 9_007_199_254_740_000n, max: 9_007_199_254_741_999n }),
);

/** The one form of a value: a number while it is exact. */
function formOf(value: bigint): SequenceNumber {
  return value <= 9_007_199_254_740_991n ? Number(value) : value;
}

describe("sequences", () => {
  test("FW-ENV-05 every one survives reading, wherever it stands in a text", () => {
    fc.assert(
      fc.property(sequences, fc.string({ maxLength: 5 }), fc.string({ maxLength: 5 }), (value, before, after) => {
        const digits = String(value);
        const read = readSequence(before + digits + after, before.length, before.length + digits.length);
        expect(BigInt(read as number)).toBe(value);
      }),
    );
  });

  test("FW-ENV-05 one value has one form: equal values are one key of a map", () => {
    fc.assert(
      fc.property(sequences, fc.nat(4), (value, zeros) => {
        const digits = "0".repeat(zeros) + String(value);
        const read = readSequence(digits, 0, digits.length);
        expect(read).toBe(formOf(value));
      }),
    );
  });

  test("FW-ENV-05 order and successor are exact across both forms", () => {
    fc.assert(
      fc.property(sequences, sequences, (a, b) => {
        expect(formOf(a) < formOf(b)).toBe(a < b);
        expect(nextSequence(formOf(a))).toBe(formOf(a + 1n));
      }),
    );
  });

  test.each(["", "-1", "+1", " 1", "1 ", "1.5", "1e3", "0x10", "x", "12a", "999999999999999999999x", "１", "1_000"])(
    "FW-ENV-05 %j is none",
    (text) => {
      expect(readSequence(text, 0, text.length)).toBeNull();
    },
  );

  test("FW-ENV-05 an empty or backward range is none", () => {
    expect([readSequence("123", 1, 1), readSequence("123", 2, 1)]).toEqual([null, null]);
  });
});
