import { isErrorKind, NumberToken } from "@sinks/core";
import { expect, test } from "vitest";
import { json } from "../src/payload/json-text.js";
import type { BoundValue, BuiltWrite } from "../src/render/built-write.js";
import { buildSettings, guardTwo, tableTypes } from "./payload-fixture.js";

/** Text that a value becomes in a column of a type; without one the type is unknown. */
const bound = (value: unknown, type?: string, changes: Parameters<typeof buildSettings>[0] = {}): BoundValue | string => {
  const answer = guardTwo({ table: "t", data: { v: value } }, type === undefined ? null : tableTypes({ v: type }), buildSettings(changes));
  if (answer instanceof Error) {
    expect(isErrorKind(answer, "ValidationError")).toBe(true);
    return `refused: ${answer.message.replace("PostgreSQL payload, insert: data.v", "v")}`;
  }
  return (answer as BuiltWrite).values[0] as BoundValue;
};

test("WO-VAL-10 single values are bound as text", () => {
  expect(bound("x")).toBe("x");
  expect(bound("")).toBe("");
  expect(bound(true)).toBe("true");
  expect(bound(false)).toBe("false");
  expect(bound(-0)).toBe("0");
  expect(bound(0.1)).toBe("0.1");
  expect(bound(1e300)).toBe("1e+300");
  expect(bound(Number.MAX_SAFE_INTEGER)).toBe("9007199254740991");
  expect(bound(-(10n ** 40n))).toBe(`-1${"0".repeat(40)}`);
  expect(bound(null)).toBeNull();
  expect(bound(Buffer.from([0, 255, 16]))).toBe("\\x00ff10");
  expect(bound(new Uint8Array([1, 2, 3, 4]).subarray(1, 3))).toBe("\\x0203");
  expect(bound(new NumberToken("3.14159265358979323846"))).toBe("3.14159265358979323846");
});

test("WO-VAL-02 WO-VAL-03 what is no exact value is refused", () => {
  class Point {
    readonly x = 1;
  }
  for (const value of [
    () => 1,
    Symbol("s"),
    new Map(),
    new Set(),
    new WeakMap(),
    Promise.resolve(),
    new Point(),
    new Date(Number.NaN),
    /x/,
  ]) {
    expect(bound(value)).toMatch(/^refused: v is /);
    expect(bound(value, "jsonb")).toMatch(/^refused: v is /);
    expect(bound({ a: [value] }, "jsonb")).toMatch(/^refused: v\.a\[0\] is /);
  }
  for (const value of [Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53, -(2 ** 53)]) {
    expect(bound(value)).toMatch(/^refused: v is (not finite|an integer beyond)/);
    expect(bound([{ a: value }], "jsonb")).toMatch(/^refused: v\[0\]\.a is (not finite|an integer beyond)/);
  }
  const cycle: Record<string, unknown> = {};
  cycle["self"] = cycle;
  expect(bound(cycle, "jsonb")).toMatch(/^refused: v.* contains itself/);
  expect(bound(Array(2), "jsonb")).toMatch(/^refused: v\[0\] is undefined/);
  expect(bound(Array(2), "int4[]")).toMatch(/^refused: v\[0\] is undefined/);
  let called = 0;
  const hostile = { toJSON: () => called++, toPostgres: () => called++ };
  expect(bound(hostile, "jsonb")).toMatch(/^refused: v\.toJSON is a function/);
  expect(bound(hostile, "text")).toMatch(/^refused: /);
  expect(called).toBe(0);
});

test("WO-VAL-01 undefined is refused at every depth, and may be omitted at the top of data only", () => {
  expect(bound({ a: { b: undefined } }, "jsonb")).toBe("refused: v.a.b is undefined");
  expect(bound({ a: undefined }, "jsonb", { undefinedData: "omit" })).toBe("refused: v.a is undefined");
  const omit = buildSettings({ undefinedData: "omit" });
  const write = guardTwo({ table: "t", data: { b: undefined, a: 1 } }, null, omit) as BuiltWrite;
  expect(write.form.query([write])).toMatchObject({ text: 'INSERT INTO "t" ("a") VALUES ($1)', values: ["1"] });
  expect(guardTwo({ table: "t", data: { a: undefined } }, null, omit)).toMatchObject({
    message: expect.stringContaining('requires "data"'),
  });
});

test("WO-VAL-04 U+0000 is refused or stripped, in text and inside JSON", () => {
  expect(bound("a\0b")).toBe("refused: v holds U+0000");
  expect(bound("a\0b", "text", { nul: "strip" })).toBe("ab");
  for (const type of ["json", "jsonb"]) {
    expect(bound({ a: ["\0"] }, type)).toBe("refused: v holds U+0000 in a string of its JSON");
    expect(bound({ "k\0": "a\0\\u0000b" }, type, { nul: "strip" })).toBe('{"k":"a\\\\u0000b"}');
    expect(bound("\\u0000", type)).toBe('"\\\\u0000"');
  }
  expect(bound(["a\0"], "text[]")).toBe("refused: v[0] holds U+0000");
  expect(bound(["a\0"], "text[]", { nul: "strip" })).toBe('{"a"}');
});

test("WO-VAL-05 a lone surrogate is refused, never replaced", () => {
  for (const text of ["\ud800", "a\udc00", "\udc00\ud800"]) {
    expect(bound(text)).toBe("refused: v holds a lone surrogate");
    expect(bound([text], "text[]")).toBe("refused: v[0] holds a lone surrogate");
    expect(bound({ a: text }, "jsonb")).toBe("refused: v.a holds a lone surrogate");
    expect(bound({ [text]: 1 }, "jsonb")).toMatch(/^refused: v.*has a name with a lone surrogate/s);
  }
  expect(bound("😀")).toBe("😀");
});

test("WO-VAL-06 a date is UTC with milliseconds, within the years 1 to 9999", () => {
  expect(bound(new Date("2027-02-03T04:05:06.007+02:00"))).toBe("2027-02-03T02:05:06.007Z");
  expect(bound(new Date("0001-01-01T00:00:00Z"))).toBe("0001-01-01T00:00:00.000Z");
  expect(bound(new Date("9999-12-31T23:59:59.999Z"))).toBe("9999-12-31T23:59:59.999Z");
  for (const text of ["0000-12-31T23:59:59.999Z", "+010000-01-01T00:00:00Z"]) expect(bound(new Date(text))).toMatch(/outside the years/);
});

test("WO-VAL-06 times of the stream are cut to microseconds in timestamp columns only", () => {
  const time = "2027-02-03T04:05:06.123456999Z";
  for (const type of ["timestamptz", "timestamp"]) expect(bound(time, type)).toBe("2027-02-03T04:05:06.123456Z");
  expect(bound([time], "timestamptz[]")).toBe('{"2027-02-03T04:05:06.123456Z"}');
  for (const type of [undefined, "text"]) expect(bound(time, type)).toBe(time);
  expect(bound("2027-02-03T04:05:06.1Z", "timestamptz")).toBe("2027-02-03T04:05:06.1Z");
});

test("WO-VAL-07 WO-VAL-11 everything in a json column is JSON text, digits and order kept", () => {
  for (const type of ["json", "jsonb"]) {
    expect(bound("a", type)).toBe('"a"');
    expect(bound('{"a":1}', type)).toBe('"{\\"a\\":1}"');
    expect(bound(1, type)).toBe("1");
    expect(bound(true, type)).toBe("true");
    expect(bound(null, type)).toBeNull();
    expect(bound([], type)).toBe("[]");
    expect(bound(new Date(0), type)).toBe('"1970-01-01T00:00:00.000Z"');
    expect(bound(Buffer.from("hi"), type)).toBe('"aGk="');
    const token = new NumberToken("0.10000000000000000000000001");
    expect(bound({ b: 12345678901234567890n, a: [token, null, { $gt: "" }] }, type)).toBe(
      '{"b":12345678901234567890,"a":[0.10000000000000000000000001,null,{"$gt":""}]}',
    );
  }
});

test("WO-VAL-11 arrays of an array column are quoted so that no element is structure", () => {
  expect(bound([], "text[]")).toBe("{}");
  expect(bound(["a", null, "NULL", "", ' "\\{},'], "text[]")).toBe('{"a",NULL,"NULL",""," \\"\\\\{},"}');
  expect(bound([1, 2n, true, new NumberToken("1e400")], "numeric[]")).toBe('{1,2,true,"1e400"}');
  expect(
    bound(
      [
        [1, 2],
        [3, 4],
      ],
      "int4[]",
    ),
  ).toBe("{{1,2},{3,4}}");
  expect(bound([Buffer.from([1])], "bytea[]")).toBe('{"\\\\x01"}');
  expect(bound([{ a: [1] }, [2], "x", null], "jsonb[]")).toBe('{"{\\"a\\":[1]}","[2]","\\"x\\"",NULL}');
  expect(bound([1, 2], "box[]")).toBe("{1;2}");
  expect(bound("{1,2}", "int4[]")).toBe("{1,2}");
  expect(bound([{ a: 1 }], "int4[]")).toBe("refused: v[0] is an object, which a column of type int4 does not take");
  expect(bound({ a: 1 }, "int4[]")).toMatch(/which a column of type int4\[\] does not take/);
  expect(bound([[[[[[[1]]]]]]], "int4[]")).toMatch(/^refused: v(\[0\]){6} has more than 6 dimensions/);
});

test("WO-VAL-11 other columns take no object and no array; unknown columns leave the verdict to the server", () => {
  expect(bound({ a: 1 }, "int8")).toBe("refused: v is an object, which a column of type int8 does not take");
  expect(bound([1], "text")).toBe("refused: v is an array, which a column of type text does not take");
  const write = guardTwo({ table: "t", data: { v: { a: 1 } } }, tableTypes({ other: "text" })) as BuiltWrite;
  expect(write.values).toEqual(['{"a":1}']);
});

test("WO-VAL-12 json() marks JSON text whatever the column", () => {
  for (const type of [undefined, "text", "jsonb", "int4[]"]) {
    expect(bound(json([1]), type)).toBe("[1]");
    expect(bound(json("a"), type)).toBe('"a"');
    expect(bound(json(null), type)).toBe("null");
  }
  expect(bound([json([1])], "jsonb[]")).toBe('{"[1]"}');
  expect(bound({ a: json(1) }, "jsonb")).toMatch(/^refused: v\.a is an object of a class/);
  expect(bound(json({ a: "\0" }), "text")).toMatch(/U\+0000/);
});

test("WO-VAL-14 a predicate takes single values only", () => {
  const where = (value: unknown, type?: string) =>
    guardTwo({ op: "delete", table: "t", where: { v: value } }, type === undefined ? null : tableTypes({ v: type }));
  for (const value of ["x", 1, true, 1n, new Date(0), Buffer.from("x"), new NumberToken("1.5")]) {
    expect(where(value)).toMatchObject({ values: [bound(value)] });
  }
  for (const value of [[1], { $gt: "" }, json(1)]) {
    for (const type of [undefined, "jsonb", "int4[]"]) {
      expect(where(value, type)).toMatchObject({
        message: expect.stringContaining('where.v is an array or an object, which "where" does not take'),
      });
    }
  }
});

test("WO-VAL-15 null is NULL in every column", () => {
  for (const type of ["text", "jsonb", "int4[]"]) expect(bound(null, type)).toBeNull();
});
