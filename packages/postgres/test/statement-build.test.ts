import { isErrorKind, NumberToken } from "@sinks/core";
import { expect, test } from "vitest";
import { json } from "../src/payload/json-text.js";
import type { BuiltWrite } from "../src/render/built-write.js";
import { scalarTypes } from "../src/value/param-type.js";
import { buildSettings, guardTwo, statementsOf } from "./payload-fixture.js";

const statements = statementsOf({
  park: "UPDATE lots SET w = :w WHERE id = :lot",
  ping: "SELECT 1",
  _a: "SELECT :v",
  ...Object.fromEntries(scalarTypes.map((type) => [`t_${type}`, { sql: "SELECT :v", params: { v: type } }])),
  maybe: { sql: "SELECT :v", params: { v: "int8?" } },
  ints: { sql: "SELECT :v", params: { v: "int2[]" } },
  jsons: { sql: "SELECT :v", params: { v: "jsonb[]?" } },
});
const settings = buildSettings({ statements });
const run = (statement: string, params?: unknown, given = settings) => guardTwo({ op: "statement", statement, params }, null, given);
const failure = (statement: string, params?: unknown, given = settings): string => {
  const error = run(statement, params, given);
  expect(isErrorKind(error, "ValidationError")).toBe(true);
  return (error as Error).message;
};
/** The text that a value is bound as under a declared type, or the refusal. */
const bound = (type: string, value: unknown): unknown => {
  const answer = run(type, { v: value });
  return answer instanceof Error ? answer.message.replace(/^.*: params\.v/, "refused:") : (answer as BuiltWrite).values[0];
};
const takes = (type: string, values: readonly unknown[]) => {
  for (const value of values) expect([value, bound(type, value)]).toEqual([value, expect.not.stringMatching(/^refused/)]);
};
const refuses = (type: string, values: readonly unknown[], reason: RegExp = /./) => {
  for (const value of values) {
    expect([value, bound(type, value)]).toEqual([value, expect.stringMatching(/^refused:/)]);
    expect(bound(type, value)).toMatch(reason);
  }
};

test("C46 WO-PGS-17 missing and unexpected params are listed, each group sorted", () => {
  const needed = buildSettings({ statements: statementsOf({ park: "UPDATE t SET w = :w WHERE lot = :lot" }) });
  expect(failure("park", { lot: 1, extra: 2 }, needed)).toBe(
    'PostgreSQL payload, statement: "park": params missing "w"; unexpected "extra"',
  );
  expect(failure("park", { z: 1, B: 2 }, needed)).toMatch(/params missing "lot", "w"; unexpected "B", "z"$/);
  expect(failure("park", undefined, needed)).toMatch(/params missing "lot", "w"$/);
  expect(failure("ping", { a: 1 }, settings)).toMatch(/params unexpected "a"$/);
});

test("WO-PGS-17 values are bound in the order of the placeholders", () => {
  expect(run("park", { lot: 7, w: "x" })).toMatchObject({ values: ["x", "7"], form: { destination: "park", maximumRows: 1 } });
  expect(run("park", { w: "x", lot: 7 })).toMatchObject({ values: ["x", "7"] });
  expect(run("ping")).toMatchObject({ values: [] });
  const write = run("park", { w: "x", lot: 7 }) as BuiltWrite;
  expect(write.form.query([write])).toEqual({ text: "UPDATE lots SET w = $1 WHERE id = $2", values: ["x", "7"], prepare: true });
});

test("WO-GEN-18 WO-GEN-19 an unknown statement lists the configured names sorted", () => {
  const few = buildSettings({ statements: statementsOf({ b: "SELECT 1", _a: "SELECT 1", a1: "SELECT 1" }) });
  expect(failure("nope", {}, few)).toMatch(/the names are _a, a1, b$/);
  for (const name of ["constructor", "__proto__", "toString"]) expect(failure(name, {}, few)).toMatch(/no such statement/);
  expect(failure("nope", {}, buildSettings())).toMatch(/the names are <none configured>$/);
});

test("WO-VAL-13 without a declared type an object is JSON text and an array needs one", () => {
  expect(bound("_a", { b: [1n] })).toBe('{"b":[1]}');
  expect(bound("_a", json([1]))).toBe("[1]");
  expect(bound("_a", [1])).toMatch(/^refused: is an array without a declared type: declare one, such as jsonb or int8\[\]/);
  expect(bound("_a", null)).toBeNull();
  expect(bound("_a", new NumberToken("1.10"))).toBe("1.10");
  refuses("_a", [Number.NaN, 2 ** 53, "a\0", "\ud800", () => 1, { a: undefined }]);
});

test("WO-PGS-18 null needs a question mark", () => {
  expect(bound("t_int8", null)).toMatch(/is null, which its type does not allow/);
  expect(bound("maybe", null)).toBeNull();
  expect(bound("maybe", 1)).toBe("1");
  expect(bound("jsons", null)).toBeNull();
});

test("WO-PGS-18 integers have form and range", () => {
  takes("t_int2", [0, -32_768, 32_767, "12", "+5", 7n, new NumberToken("8")]);
  refuses("t_int2", [32_768, -32_769, "32768"], /out of the range of int2/);
  takes("t_int4", [2 ** 31 - 1, -(2 ** 31)]);
  refuses("t_int4", [2 ** 31, "-2147483649"], /out of the range of int4/);
  takes("t_int8", [2n ** 63n - 1n, -(2n ** 63n), "9223372036854775807"]);
  refuses("t_int8", [2n ** 63n, "9223372036854775808"], /out of the range of int8/);
  refuses("t_int8", [
    1.5,
    "",
    " 1",
    "1 ",
    "1\n",
    "1.0",
    "0x10",
    "1_000",
    true,
    new Date(0),
    [1],
    { a: 1 },
    new NumberToken("1.5"),
    json(1),
    2 ** 53,
  ]);
});

test("WO-PGS-18 WO-VAL-03 floats take what is not finite, and no value that would vanish or overflow", () => {
  takes("t_float8", [
    0.1,
    Number.NaN,
    Number.NEGATIVE_INFINITY,
    2 ** 60,
    1e300,
    "1e-300",
    "-Infinity",
    5n,
    new NumberToken("0.1234567890123456789"),
  ]);
  refuses("t_float8", ["1e400", "1e-400", new NumberToken("1e999"), "abc", "", "1,5", true], /float8/);
  takes("t_float4", [0, "0e999", 3.4e38, 1e-45, Number.POSITIVE_INFINITY]);
  refuses("t_float4", [3.5e38, 1e-60], /out of the range of float4/);
  expect(bound("t_float8", Number.NaN)).toBe("NaN");
  expect(bound("t_float8", Number.NEGATIVE_INFINITY)).toBe("-Infinity");
});

test("WO-PGS-18 numerics keep every digit", () => {
  takes("t_numeric", [1, 0.5, 10n ** 50n, "1.50", ".5", "5.", "1e10", new NumberToken(`0.${"1".repeat(100)}`)]);
  refuses("t_numeric", [new NumberToken("1e200000"), "1e-20000"], /out of the range of numeric/);
  refuses("t_numeric", ["", "1.2.3", "e5", ".", "1e", Number.NaN, true, new Date(0)]);
});

test("WO-PGS-18 bool, text, uuid, bytea and inet have their forms", () => {
  takes("t_bool", [true, false, "true", "F", "off", "1"]);
  refuses("t_bool", [1, "maybe", "", new Date(0)]);
  takes("t_text", ["", "x", 1, 1n, true, new Date(0), new NumberToken("1.0")]);
  refuses("t_text", [{ a: 1 }, [1], Buffer.from("x"), json("x"), "a\0", "\ud800"]);
  takes("t_uuid", ["123e4567-e89b-12d3-a456-426614174000", "123E4567E89B12D3A456426614174000", "{123e4567-e89b-12d3-a456-426614174000}"]);
  refuses("t_uuid", ["123e4567", "g23e4567-e89b-12d3-a456-426614174000", "{123e4567-e89b-12d3-a456-426614174000", 1, ""]);
  takes("t_bytea", [Buffer.from("x"), new Uint8Array(0), "\\x", "\\xDEad"]);
  refuses("t_bytea", ["abc", "\\x1", "\\xzz", 1, new Date(0)]);
  takes("t_inet", ["10.0.0.1", "10.0.0.0/8", "::1", "2001:db8::/32", "::ffff:10.0.0.1"]);
  refuses("t_inet", ["10.0.0", "10.0.0.256", "10.0.0.1/33", "::1/129", "fe80::1%eth0", "10.0.0.1/", "10.0.0.1/8/8", "host", 1]);
});

test("WO-PGS-18 WO-VAL-06 dates and times are days that exist", () => {
  takes("t_date", ["2024-02-29", "0001-01-01", "infinity", new Date(0), "2027-01-01T10:00:00Z"]);
  refuses("t_date", ["2023-02-29", "2100-02-29", "0000-01-01", "2027-13-01", "2027-00-10", "2027-01-32", "1/2/2027", "today", "", 5]);
  takes("t_timestamptz", [
    "2027-01-01T24:00:00Z",
    "2027-01-01 10:00:60.5+02",
    "2027-01-01T10:00:00.123456789-05:30",
    "-infinity",
    "2027-01-01",
  ]);
  refuses("t_timestamptz", ["2027-01-01T25:00Z", "2027-01-01T10:60Z", "2027-01-01T24:00:01Z", "2027-01-01T10", "10:00", "now"]);
  expect(bound("t_timestamptz", "2027-02-03T04:05:06.123456999Z")).toBe("2027-02-03T04:05:06.123456Z");
  expect(bound("t_timestamp", new Date("2027-02-03T04:05:06.007Z"))).toBe("2027-02-03T04:05:06.007Z");
  takes("t_interval", ["1 day", "2 years 3 mons -4 days 05:06:07.8", "P1Y2M3DT4H5M6.7S", "PT1H", "1-2", "1 hour ago", "90:00"]);
  refuses("t_interval", ["", "day", "5", "P", "soon", 5, new Date(0), "1".repeat(300)]);
});

test("WO-PGS-18 WO-VAL-07 json and jsonb take any JSON", () => {
  for (const type of ["t_json", "t_jsonb"]) {
    expect(bound(type, [1, { a: 2n }])).toBe('[1,{"a":2}]');
    expect(bound(type, "x")).toBe('"x"');
    expect(bound(type, json("x"))).toBe('"x"');
    refuses(type, [{ a: undefined }, Number.NaN, "\0"]);
  }
});

test("WO-PGS-18 arrays have elements of their type", () => {
  expect(bound("ints", [1, "2", null, 3n])).toBe('{1,"2",NULL,3}');
  expect(bound("ints", [[1], [2]])).toBe("{{1},{2}}");
  expect(bound("ints", [])).toBe("{}");
  refuses("ints", ["{1}", 1, { a: 1 }], /is no array, as int2\[\] needs/);
  expect(bound("ints", [1, 70_000])).toMatch(/^refused:\[1\] is out of the range of int2/);
  expect(bound("jsons", [[1], { a: 1 }])).toBe('{"[1]","{\\"a\\":1}"}');
});

test("WO-GEN-05 an error names the statement and the param, never the text or the value", () => {
  const message = failure("t_int8", { v: "hush-hush" });
  expect(message).toBe('PostgreSQL payload, statement: "t_int8": params.v is no int8');
});
