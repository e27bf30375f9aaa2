import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { NumberToken } from "../../src/envelope/json.js";
import { encodeJson } from "../../src/envelope/json-encode.js";
import { findJsonHazards } from "../../src/envelope/json-hazards.js";
import { judgeJson, parseStrictJson } from "../../src/envelope/strict-json.js";
import { hasUnsafeInteger, judgedByReference } from "./json-reference.js";

const bytes = (text: string) => Buffer.from(text, "utf8");
const accepts = (text: string) => judgeJson(bytes(text)) !== null;
const nested = (depth: number, open: string, close: string, core = "") => open.repeat(depth) + core + close.repeat(depth);

/** Any JSON text: random white space, escapes and number spellings, names drawn so that repeats are common. */
const space = fc.constantFrom("", "", "", " ", "\n", "\t\r\n ");
const character = fc.oneof(
  fc.constantFrom(
    "a",
    "b",
    "_",
    "\u00e9",
    "\u{1f600}",
    "\\u0061",
    "\\u005f",
    "\\u00e9",
    "\\ud83d\\ude00",
    "\\ud800",
    "\\n",
    "\\/",
    "\\\\",
    '\\"',
    "\u007f",
  ),
  fc.constantFrom("a"),
);
const stringText = fc.array(character, { maxLength: 3 }).map((parts) => `"${parts.join("")}"`);
const numberText = fc.constantFrom(
  "0",
  "-0",
  "1",
  "-12",
  "0.5",
  "1e5",
  "1E-3",
  "-0.0e+0",
  "9007199254740993",
  "0.1000000000000000055",
  "123456789012345",
  "1e400",
);
const { json: jsonText } = fc.letrec<{ json: string }>((tie) => ({
  json: fc.oneof(
    { maxDepth: 4 },
    stringText,
    numberText,
    fc.constantFrom("true", "false", "null", "{}", "[]"),
    fc
      .tuple(
        space,
        fc.array(
          fc.tuple(space, tie("json"), space).map((parts) => parts.join("")),
          { maxLength: 4 },
        ),
      )
      .map(([gap, items]) => `[${gap}${items.join(",")}]`),
    fc
      .tuple(space, fc.array(fc.tuple(space, stringText, space, space, tie("json"), space), { maxLength: 5 }))
      .map(([gap, members]) => `{${gap}${members.map(([a, name, b, c, value, d]) => `${a}${name}${b}:${c}${value}${d}`).join(",")}}`),
  ),
}));

describe("FW-PAY-03 strict JSON", () => {
  test.each([
    "{}",
    "[]",
    '""',
    "0",
    "-0",
    "1.5e-7",
    "true",
    "false",
    "null",
    ' \t\r\n{"a" : [ 1 , 2 ] }\n',
    '{"a":{"a":1},"b":{"a":2}}',
    '[{"a":1},{"a":1}]',
    '"\\ud800"',
    '"\u007f"',
  ])("FW-PAY-03 %j is JSON", (text) => expect(accepts(text)).toBe(true));

  test.each([
    "",
    " ",
    "NaN",
    "Infinity",
    "-Infinity",
    "[NaN]",
    "01",
    "-",
    "+1",
    ".5",
    "1.",
    "1e",
    "1e+",
    "0x10",
    "1_000",
    "tru",
    "truex",
    "nulll",
    "True",
    "'a'",
    "{a:1}",
    '{"a":1,}',
    "[1,]",
    "[,1]",
    "[1 2]",
    '{"a" 1}',
    '{"a":}',
    '{"a":1',
    "[1",
    '"a',
    '"a\\',
    '"\\x41"',
    '"\\u12"',
    '"\\u12g4"',
    '"\\U0041"',
    '"a\nb"',
    '"a\u0000b"',
    '"a\tb"',
    "{} {}",
    "1 2",
    "{}x",
    "// c\n1",
    "1/**/",
    "\u00a01",
    "\u2028{}",
    "{,}",
    '{"a":1,,"b":2}',
    "}",
    "]",
    ":",
    ",",
    "[}",
    "{]",
    '{"a":1]',
    "[1}",
    "\ufeff{}",
  ])("FW-PAY-03 %j is not JSON", (text) => expect(accepts(text)).toBe(false));

  test("FW-PAY-03 member names must differ after unescaping, object by object", () => {
    for (const text of [
      '{"a":1,"a":2}',
      '{"a":1,"\\u0061":2}',
      '{"\\u00e9":1,"\u00e9":2}',
      '{"\\ud83d\\ude00":1,"\u{1f600}":2}',
      '{"":1,"":2}',
      '[{"x":{"b":1,"c":2,"b":3}}]',
      '{"\\ud800":1,"\\uD800":2}',
    ]) {
      expect([text, accepts(text)]).toEqual([text, false]);
    }
    // JSON text with different halves of pairs has different names, though UTF-8 could not tell them apart.
    for (const text of ['{"\\ud800":1,"\\ud801":2}', '{"a":1,"A":2}', '{"a":{"a":{"a":1}}}', '{"__proto__":1,"constructor":2}']) {
      expect([text, accepts(text)]).toEqual([text, true]);
    }
  });

  test("FW-PAY-03 repeated names are found in large objects, wherever they stand", () => {
    const members = Array.from({ length: 300 }, (_, position) => `"name${position}":${position}`);
    expect(accepts(`{${members.join(",")}}`)).toBe(true);
    for (const repeated of [0, 14, 15, 16, 17, 299]) expect(accepts(`{${members.join(",")},"name${repeated}":0}`)).toBe(false);
    expect(accepts(`{${members.join(",")},"\\u006eame7":0}`)).toBe(false);
  });

  test("FW-PAY-03 names whose hashes collide are told apart", () => {
    // With the factor 31, "Aa" and "BB" have one hash.
    expect(accepts('{"Aa":1,"BB":2}')).toBe(true);
    expect(accepts('{"Aa":1,"BB":2,"Aa":3}')).toBe(false);
  });

  test("FW-PAY-03 512 levels are JSON, 513 are not", () => {
    for (const [open, close] of [
      ["[", "]"],
      ['{"a":', "}"],
    ] as const) {
      expect(accepts(nested(512, open, close, "1"))).toBe(true);
      expect(accepts(nested(513, open, close, "1"))).toBe(false);
    }
    expect(accepts(nested(512, "[", "]"))).toBe(true);
    expect(accepts(nested(513, "[", "]"))).toBe(false);
    expect(accepts(nested(200_000, "[", "]"))).toBe(false);
  });

  test("FW-PAY-03 invalid UTF-8 and a byte order mark are not JSON", () => {
    expect(parseStrictJson(Buffer.from([0x22, 0xff, 0x22]))).toBeUndefined();
    expect(parseStrictJson(Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22]))).toBeUndefined();
    expect(parseStrictJson(Buffer.from([0x22, 0xc0, 0xaf, 0x22]))).toBeUndefined();
    expect(parseStrictJson(Buffer.from([0xef, 0xbb, 0xbf, 0x7b, 0x7d]))).toBeUndefined();
    expect(parseStrictJson(Buffer.from([0x7b, 0x7d]))).toEqual({});
  });

  test("FW-PAY-03 the judgement agrees with a slow reference on generated texts (property)", () => {
    fc.assert(
      fc.property(jsonText, (text) => {
        expect([text, accepts(text)]).toEqual([text, judgedByReference(text)]);
      }),
      { numRuns: 1500 },
    );
  });

  test("FW-PAY-03 the judgement agrees with a slow reference on damaged texts (property)", () => {
    const damage = fc.tuple(jsonText, fc.nat(), fc.nat({ max: 2 }), fc.constantFrom(...'{}[]",:\\0123456789.eE+-tfnu \u0000\n\u00e9'));
    fc.assert(
      fc.property(damage, ([text, where, cut, inserted]) => {
        const at = where % (text.length + 1);
        const damaged = text.slice(0, at) + inserted + text.slice(at + cut);
        // Cutting may leave half of a pair, which no UTF-8 body can hold.
        fc.pre(!/\p{Surrogate}/u.test(damaged));
        expect([damaged, accepts(damaged)]).toEqual([damaged, judgedByReference(damaged)]);
      }),
      { numRuns: 1500 },
    );
  });
});

describe("FW-PAY-06 numbers keep their digits", () => {
  const value = (text: string) => parseStrictJson(bytes(text));

  test("FW-PAY-06 integers are numbers up to 2^53 and bigints beyond", () => {
    expect(value("[9007199254740991,-9007199254740991,9007199254740992,-9007199254740993,123456789012345678901234567890]")).toEqual([
      9_007_199_254_740_991,
      -9_007_199_254_740_991,
      9_007_199_254_740_992n,
      -9_007_199_254_740_993n,
      123_456_789_012_345_678_901_234_567_890n,
    ]);
  });

  test("FW-PAY-06 decimals are numbers when a double prints an equal value, else tokens", () => {
    for (const held of [
      "0.1",
      "1.0",
      "1e300",
      "1E2",
      "100e-2",
      "0.000001",
      "5e-324",
      "1.7976931348623157e308",
      "-0.0",
      "0e99999",
      "0.30000000000000004",
    ]) {
      expect([held, value(`[${held}]`)]).toEqual([held, [Number(held)]]);
    }
    for (const exact of [
      "0.10000000000000001",
      "1e400",
      "1e-400",
      "9007199254740993.0",
      "3.14159265358979323846",
      "123456789.123456789123",
      "9007199254740992.5",
    ]) {
      const [token] = value(`[${exact}]`) as [NumberToken];
      expect([exact, token]).toEqual([exact, new NumberToken(exact)]);
    }
  });

  test("FW-PAY-06 an integer of absurd length stays a token, quickly", () => {
    const digits = "9".repeat(500_000);
    expect(value(digits)).toEqual(new NumberToken(digits));
  });

  test("FW-PAY-06 a lossless value is written with the same digits (property)", () => {
    const digits = fc.stringMatching(/^(0|[1-9][0-9]{0,29})$/);
    const literal = fc.oneof(
      digits,
      fc.tuple(digits, fc.stringMatching(/^[0-9]{1,25}$/)).map(([whole, fraction]) => `${whole}.${fraction}`),
    );
    fc.assert(
      fc.property(literal, fc.boolean(), (unsigned, negative) => {
        const text = negative ? `-${unsigned}` : unsigned;
        const written = encodeJson(value(`{"n":${text}}`)).slice(5, -1);
        expect(plain(written)).toBe(plain(text));
      }),
      { numRuns: 1000 },
    );
  });

  test("FW-PAY-06 the lossless reader gives what JSON.parse gives where that is exact (property)", () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 5 }), fc.integer({ min: 0, max: 3 }), (given, indent) => {
        // The last member forces the lossless reader.
        const text = JSON.stringify({ given, forced: "N" }, null, indent).replace(/"N"(?=\s*\}$)/, "9007199254740993");
        const read = value(text) as Record<string, unknown> | undefined;
        fc.pre(read !== undefined && !hasUnsafeInteger(given));
        expect(read).toEqual({ ...JSON.parse(text), forced: 9_007_199_254_740_993n });
      }),
    );
  });

  test("FW-ENV-01 values are frozen to the last level, and no name reaches a prototype", () => {
    for (const text of ['{"a":[{"b":1}],"__proto__":{"x":1}}', '{"a":[{"b":9007199254740993}],"__proto__":{"x":1}}']) {
      const read = value(text) as Record<string, never>;
      expect(Object.isFrozen(read)).toBe(true);
      expect(Object.isFrozen(read["a"])).toBe(true);
      expect(Object.isFrozen(read["a"]?.[0])).toBe(true);
      expect(Object.keys(read)).toEqual(["a", "__proto__"]);
      expect(Object.getPrototypeOf(read)).toBe(Object.prototype);
      expect((read as unknown as { x?: unknown }).x).toBeUndefined();
    }
  });
});

describe("FW-PAY-08 what a destination may not hold", () => {
  test.each([
    ['"plain \u00e9 \u{1f600}"', false, false],
    ['"\\u0000"', true, false],
    ['"\\\\u0000"', false, false],
    ['"\\\\\\u0000"', true, false],
    ['"\\ud83d\\ude00"', false, false],
    ['"\\ud83d"', false, true],
    ['"\\ud83dx\\ude00"', false, true],
    ['"\\ude00"', false, true],
    ['"\\ud83d\\ud83d\\ude00"', false, true],
    ['["\\ud83d","\\ude00"]', false, true],
    ['{"\\u0000":"\\uDC00"}', true, true],
    ['"\\ud83d\\n\\ude00"', false, true],
  ])("FW-PAY-08 %s holds NUL: %s, a lone surrogate: %s", (text, nul, loneSurrogate) => {
    expect(findJsonHazards(text)).toEqual({ nul, loneSurrogate });
  });

  test("FW-PAY-08 the search agrees with the parsed strings (property)", () => {
    const unit = fc.constantFrom("a", "\\u0000", "\\ud83d", "\\ude00", "\\\\", '\\"', "\\u0041", "\\n", "\u{1f600}");
    fc.assert(
      fc.property(fc.array(unit, { maxLength: 8 }), (parts) => {
        const text = `"${parts.join("")}"`;
        const parsed = JSON.parse(text) as string;
        expect(findJsonHazards(text)).toEqual({ nul: parsed.includes("\u0000"), loneSurrogate: /\p{Surrogate}/u.test(parsed) });
      }),
      { numRuns: 1000 },
    );
  });
});

/** A decimal without sign of zero, zeros that say nothing, and exponent. */
function plain(literal: string): string {
  const [mantissa, power = "0"] = literal.replace("-", "").toLowerCase().split("e") as [string, string?];
  const [whole, fraction = ""] = mantissa.split(".") as [string, string?];
  const digits = (whole + fraction).replace(/^0+/, "");
  const stripped = digits.replace(/0+$/, "");
  const sign = literal.startsWith("-") && stripped !== "" ? "-" : "";
  return stripped === "" ? "0" : `${sign}${stripped}e${Number(power) - fraction.length + digits.length - stripped.length}`;
}
