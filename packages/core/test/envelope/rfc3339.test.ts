import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { formatRfc3339, parseRfc3339 } from "../../src/envelope/rfc3339.js";

const firstNs = BigInt(Date.parse("0000-01-01T00:00:00Z")) * 1_000_000n;
const lastNs = BigInt(Date.parse("9999-12-31T23:59:59.999Z")) * 1_000_000n + 999_999n;

describe("RFC 3339", () => {
  test("FW-META-02 a time with no zone is UTC", () => {
    expect(parseRfc3339("2026-01-02T03:04:05")).toBe(parseRfc3339("2026-01-02T03:04:05Z"));
  });

  test("FW-META-03 nanoseconds are exact, digits beyond them are cut", () => {
    expect(parseRfc3339("2026-01-02T03:04:05.123456789Z")).toBe(1_767_323_045_123_456_789n);
    expect(parseRfc3339("2026-01-02T03:04:05.1234567899999Z")).toBe(1_767_323_045_123_456_789n);
    expect(parseRfc3339("2026-01-02T03:04:05.5Z")).toBe(1_767_323_045_500_000_000n);
    expect(parseRfc3339("1969-12-31T23:59:59.999999999Z")).toBe(-1n);
  });

  test("FW-META-02 zones, small letters, a space and leap seconds are understood", () => {
    const noon = parseRfc3339("2026-01-02T12:00:00Z");
    expect(parseRfc3339("2026-01-02t14:30:00+02:30")).toBe(noon);
    expect(parseRfc3339("2026-01-02 11:59:00-00:01")).toBe(noon);
    expect(parseRfc3339("2026-01-02T12:00:00z")).toBe(noon);
    expect(parseRfc3339("2016-12-31T23:59:60Z")).toBe(parseRfc3339("2017-01-01T00:00:00Z"));
  });

  test.each([
    "",
    "yesterday",
    "2026-01-02",
    "2026-13-01T00:00:00Z",
    "2026-00-01T00:00:00Z",
    "2026-02-29T00:00:00Z",
    "1900-02-29T00:00:00Z",
    "2026-04-31T00:00:00Z",
    "2026-01-00T00:00:00Z",
    "2026-01-02T24:00:00Z",
    "2026-01-02T00:60:00Z",
    "2026-01-02T00:00:61Z",
    "2026-01-02T00:00:00.Z",
    "2026-01-02T00:00:00+24:00",
    "2026-01-02T00:00:00+01:60",
    "2026-01-02T00:00:00Z ",
    " 2026-01-02T00:00:00Z",
    "2026-1-2T00:00:00Z",
    "1767323045",
    "2026-01-02T00:00:00Z\n",
    "\u0662\u0660\u0662\u0666-01-02T00:00:00Z",
  ])("FW-META-02 %j is no time", (text) => {
    expect(parseRfc3339(text)).toBeNull();
  });

  test("FW-META-02 leap days exist where the calendar has them", () => {
    expect(parseRfc3339("2000-02-29T00:00:00Z")).toBe(BigInt(Date.parse("2000-02-29T00:00:00Z")) * 1_000_000n);
    expect(parseRfc3339("2024-02-29T00:00:00Z")).toBe(BigInt(Date.parse("2024-02-29T00:00:00Z")) * 1_000_000n);
  });

  test("FW-META-03 formatting and parsing are inverse over the whole range (property)", () => {
    fc.assert(
      fc.property(fc.bigInt({ min: firstNs, max: lastNs }), (epochNs) => {
        const text = formatRfc3339(epochNs) as string;
        expect(text).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{9}Z$/);
        expect(parseRfc3339(text)).toBe(epochNs);
      }),
    );
  });

  test("FW-META-03 formatting agrees with Date to the millisecond (property)", () => {
    fc.assert(
      fc.property(
        fc.date({ min: new Date("0000-01-01T00:00:00Z"), max: new Date("9999-12-31T23:59:59.999Z"), noInvalidDate: true }),
        (date) => {
          const text = formatRfc3339(BigInt(date.getTime()) * 1_000_000n) as string;
          expect(`${text.slice(0, 23)}Z`).toBe(date.toISOString());
          expect(parseRfc3339(date.toISOString())).toBe(BigInt(date.getTime()) * 1_000_000n);
        },
      ),
    );
  });

  test("FW-META-03 a year that the form cannot hold gives no text", () => {
    expect(formatRfc3339(lastNs)).toBe("9999-12-31T23:59:59.999999999Z");
    expect(formatRfc3339(lastNs + 1n)).toBeNull();
    expect(formatRfc3339(firstNs)).toBe("0000-01-01T00:00:00.000000000Z");
    expect(formatRfc3339(firstNs - 1n)).toBeNull();
  });
});
