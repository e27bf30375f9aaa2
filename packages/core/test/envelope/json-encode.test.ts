import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { NumberToken } from "../../src/envelope/json.js";
import { encodeCanonicalJson, encodeJson } from "../../src/envelope/json-encode.js";
import { hasUnsafeInteger } from "./json-reference.js";
import { thrownBy } from "./sample-envelope.js";

describe("the JSON encoder (WO-VAL-07)", () => {
  test("FW-META-03 bigints and number tokens keep every digit", () => {
    expect(encodeJson({ a: 123456789012345678901234567890n, b: -1n, c: new NumberToken("1.00000000000000000001") })).toBe(
      '{"a":123456789012345678901234567890,"b":-1,"c":1.00000000000000000001}',
    );
  });

  test("WO-VAL-07 members stand in the order given, dates in UTC, bytes as base64, without white space", () => {
    const value = {
      z: new Date("2026-01-02T03:04:05.006+01:00"),
      a: Buffer.from([0xff, 0x00]),
      m: [null, true, 1.5, "\u00e9\u0000"],
      s: new Uint8Array([1, 2, 3]).subarray(1),
    };
    expect(encodeJson(value)).toBe('{"z":"2026-01-02T02:04:05.006Z","a":"/wA=","m":[null,true,1.5,"\u00e9\\u0000"],"s":"AgM="}');
    expect(encodeJson(-0)).toBe("0");
    expect(encodeJson(Object.assign(Object.create(null), { a: 1 }))).toBe('{"a":1}');
  });

  test("FW-DLQ-02 the canonical form sorts the members at every level", () => {
    expect(encodeCanonicalJson({ b: [{ d: 1, c: 2 }], a: { z: null, _: 0 } })).toBe('{"a":{"_":0,"z":null},"b":[{"c":2,"d":1}]}');
  });

  test.each([
    ["undefined", { a: [1, undefined] }, "$.a[1]"],
    ["a hole", { a: new Array(1) }, "$.a[0]"],
    ["a function", { a: { toJSON: () => 1 } }, "$.a.toJSON"],
    ["a symbol", [Symbol("s")], "$[0]"],
    ["NaN", { a: Number.NaN }, "$.a"],
    ["Infinity", [[Number.POSITIVE_INFINITY]], "$[0][0]"],
    ["an unsafe integer", { n: 2 ** 53 }, "$.n"],
    ["an invalid date", [new Date(Number.NaN)], "$[0]"],
    ["a date before the year 1", { at: new Date("0000-12-31T23:59:59.999Z") }, "$.at"],
    ["a date after the year 9999", { at: new Date("+010000-01-01T00:00:00Z") }, "$.at"],
    ["a map", { m: new Map() }, "$.m"],
    ["a class instance", { m: new URL("http://localhost") }, "$.m"],
    ["a lone surrogate", { s: "\ud800" }, "$.s"],
  ])("WO-VAL-02 %s is refused with its path", (_, value, path) => {
    const error = thrownBy(() => encodeJson(value));
    expect(error.name).toBe("SerializationError");
    expect(error.message).toContain(`at ${path} `);
  });

  test("WO-VAL-02 a name with a lone surrogate and a cycle are refused", () => {
    expect(thrownBy(() => encodeJson({ "\udc00": 1 })).name).toBe("SerializationError");
    const cycle: unknown[] = [];
    cycle.push({ cycle });
    expect(thrownBy(() => encodeJson(cycle)).message).toContain("contains itself");
  });

  test("WO-VAL-02 an error is short and well formed, whatever the names", () => {
    const { message } = thrownBy(() => encodeJson({ ["a\n\ud800".padEnd(5000, "x")]: undefined }));
    expect(message).toMatch(/^the value at \$\.a\ufffd\ufffdx+ has a name with a lone surrogate$/);
    expect(message.length).toBeLessThan(300);
  });

  test("WO-VAL-07 the text is that of JSON.stringify where both apply (property)", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        fc.pre(!JSON.stringify(value).includes("\\ud") && !hasUnsafeInteger(value));
        expect(encodeJson(value)).toBe(JSON.stringify(value));
      }),
    );
  });

  test("FW-DLQ-02 the canonical form does not depend on the order of members (property)", () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string({ maxLength: 4 }), fc.integer()), (members) => {
        const reversed = Object.fromEntries(Object.entries(members).reverse());
        expect(encodeCanonicalJson(reversed)).toBe(encodeCanonicalJson(members));
        expect(JSON.parse(encodeCanonicalJson(members))).toEqual(members);
      }),
    );
  });
});
