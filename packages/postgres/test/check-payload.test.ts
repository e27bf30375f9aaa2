import { isErrorKind } from "@sinks/core";
import fc from "fast-check";
import { expect, test } from "vitest";
import { checkPayload } from "../src/payload/check-payload.js";
import { buildSettings, guardOne } from "./payload-fixture.js";

const settings = buildSettings();
const filled = {
  table: "t",
  data: { a: 1, b: 2 },
  where: { a: 1 },
  conflict: ["a"],
  updateColumns: ["b"],
  newestBy: "b",
  statement: "park",
  params: { a: 1 },
} as const;
type Field = keyof typeof filled;
const contract: Readonly<Record<string, { required: readonly Field[]; optional: readonly Field[] }>> = {
  insert: { required: ["table", "data"], optional: [] },
  update: { required: ["table", "data", "where"], optional: [] },
  upsert: { required: ["table", "data", "conflict"], optional: ["updateColumns", "newestBy"] },
  delete: { required: ["table", "where"], optional: [] },
  statement: { required: ["statement"], optional: ["params"] },
};
const operations = Object.keys(contract);
const fields = Object.keys(filled) as Field[];

const pick = (op: string, names: readonly Field[]) => ({ op, ...Object.fromEntries(names.map((name) => [name, filled[name]])) });
const minimal = (op: string) => pick(op, contract[op]?.required ?? []);
const message = (payload: unknown, given = settings): string => {
  const error = guardOne(payload, given);
  expect(isErrorKind(error, "ValidationError")).toBe(true);
  return (error as Error).message;
};

test.each(operations)("WO-PG-01 WO-GEN-07 %s takes what it requires and what it may have", (op) => {
  const { required, optional } = contract[op] as (typeof contract)[string];
  expect(guardOne(minimal(op))).toMatchObject(minimal(op));
  expect(guardOne(pick(op, [...required, ...optional]))).toEqual(pick(op, [...required, ...optional]));
});

test.each(operations)("WO-PG-01 WO-PG-06 WO-GEN-07 WO-GEN-22 %s requires its fields, and empty ones are none", (op) => {
  for (const field of contract[op]?.required ?? []) {
    for (const empty of [undefined, null, "", [], {}]) {
      expect(message({ ...minimal(op), [field]: empty })).toBe(`PostgreSQL payload, ${op}: it requires "${field}"`);
    }
  }
});

test.each(operations)("WO-PG-01 WO-GEN-07 %s forbids every other field, whatever its value", (op) => {
  const { required, optional } = contract[op] as (typeof contract)[string];
  for (const field of fields.filter((name) => ![...required, ...optional].includes(name))) {
    for (const value of [filled[field], null, "", [], {}, 0]) {
      expect(message({ ...minimal(op), [field]: value })).toBe(`PostgreSQL payload, ${op}: it does not use "${field}"`);
    }
    expect(guardOne({ ...minimal(op), [field]: undefined })).toEqual(guardOne(minimal(op)));
  }
});

test("WO-GEN-01 WO-GEN-02 WO-GEN-07 an absent op is insert, another word is none, and a field that no operation has is an error", () => {
  expect(checkPayload({ table: "t", data: { a: 0 } }, settings)).toEqual({ op: "insert", table: "t", data: { a: 0 } });
  for (const op of [null, "", "INSERT", "merge", "constructor", 1])
    expect(message({ op, table: "t", data: { a: 1 } })).toMatch(/"op" must be one of insert, update/);
  expect(message({ op: "statement", statement: "s", sql: "SELECT 1" })).toBe('PostgreSQL payload, statement: it does not use "sql"');
  expect(message({ table: "t", data: { a: 1 }, on_zero_rows: "fail" })).toBe('PostgreSQL payload, insert: it does not use "on_zero_rows"');
  expect(message({ op: "delete", table: "t", where: { a: 1 }, "secret value": 1 })).not.toContain("secret");
});

test("WO-GEN-01 a payload is a plain object", () => {
  class Payload {
    readonly table = "t";
    readonly data = { a: 1 };
  }
  for (const value of [null, undefined, "insert", 1, [], new Map(), new Payload(), () => null])
    expect(message(value)).toMatch(/plain object/);
  expect(guardOne(Object.assign(Object.create(null), { table: "t", data: { a: 1 } }))).toMatchObject({ op: "insert" });
});

test("WO-PG-01 the names of a configuration are the same fields", () => {
  const upsert = { op: "upsert", table: "t", data: { a: 1, b: 2 }, conflict: ["a"] };
  expect(guardOne({ ...upsert, update_columns: ["b"], newest_by: "b" })).toEqual({ ...upsert, updateColumns: ["b"], newestBy: "b" });
  expect(message({ ...upsert, update_columns: ["b"], updateColumns: ["b"] })).toMatch(/"updateColumns" is given in both of its forms/);
  expect(message({ ...minimal("update"), update_columns: ["b"] })).toMatch(/update: it does not use "updateColumns"/);
});

test("WO-GEN-08 records are plain, and names like __proto__ are ordinary", () => {
  class Row {
    readonly a = 1;
  }
  for (const data of [new Row(), new Map([["a", 1]]), new Set(["a"]), ["a"], "a", 1, new Date(0)]) {
    expect(message({ table: "t", data })).toMatch(/"data" must be a plain object/);
    expect(message({ op: "delete", table: "t", where: data })).toMatch(/"where" must be a plain object/);
    expect(message({ op: "statement", statement: "park", params: data })).toMatch(/"params" must be a plain object/);
  }
  const data = JSON.parse('{"__proto__": 1, "constructor": 2}');
  expect(Object.keys((guardOne({ table: "t", data }) as { data: object }).data)).toEqual(["__proto__", "constructor"]);
});

test("WO-VAL-01 undefined is refused with its path; data may omit it by choice, a predicate never", () => {
  const omit = buildSettings({ undefinedData: "omit" });
  expect(message({ table: "t", data: { a: 1, kg: undefined } })).toBe("PostgreSQL payload, insert: data.kg is undefined");
  expect(guardOne({ table: "t", data: { a: 1, kg: undefined } }, omit)).toMatchObject({ op: "insert" });
  expect(message({ op: "delete", table: "t", where: { id: undefined } }, omit)).toMatch(/where\.id is undefined/);
  expect(message({ op: "statement", statement: "park", params: { id: undefined } }, omit)).toMatch(/params\.id is undefined/);
});

test("WO-PGS-16 params that are absent, undefined, null and {} are the same", () => {
  for (const params of [undefined, null, {}]) {
    expect(guardOne({ op: "statement", statement: "park", params })).toEqual({ op: "statement", statement: "park", params: {} });
  }
  expect(guardOne({ op: "statement", statement: "park" })).toEqual({ op: "statement", statement: "park", params: {} });
  expect(message({ op: "statement", statement: 7 })).toMatch(/"statement" must be the name/);
});

test("WO-PG-11 lists of columns hold names, each once, without overlap", () => {
  const upsert = (fields: object) => ({ op: "upsert", table: "t", data: { a: 1, b: 2 }, conflict: ["a"], ...fields });
  expect(message(upsert({ conflict: ["a", "a"] }))).toMatch(/"conflict" names "a" twice/);
  expect(message(upsert({ updateColumns: ["b", "b"] }))).toMatch(/"updateColumns" names "b" twice/);
  expect(message(upsert({ updateColumns: ["b", "a"] }))).toMatch(/overlap in "a"/);
  expect(message(upsert({ newestBy: "a" }))).toMatch(/"newestBy" names a column of "conflict"/);
  for (const wrong of ["a", { a: 1 }]) expect(message(upsert({ conflict: wrong }))).toMatch(/"conflict" must be a list/);
  for (const wrong of [[1], [null], ["b c"], [["b"]], Array(1)])
    expect(message(upsert({ conflict: wrong }))).toMatch(/"conflict" has an entry/);
  for (const wrong of ["b", null]) expect(message(upsert({ updateColumns: wrong }))).toMatch(/"updateColumns" must be a list/);
  for (const wrong of ["b\n", "", null, 1]) expect(message(upsert({ newestBy: wrong }))).toMatch(/"newestBy" must be the name/);
  expect(guardOne(upsert({ updateColumns: [] }))).toMatchObject({ updateColumns: [] });
});

test("WO-PG-13 columns are identifiers; what is none is not shown", () => {
  for (const name of ["", "1a", "a b", "a\n", "é", 'a"b', "a.b", "a".repeat(64)]) {
    expect(message({ table: "t", data: { [name]: 1 } })).toBe('PostgreSQL payload, insert: "data" has a name that is no name of a column');
    expect(message({ op: "delete", table: "t", where: { [name]: 1 } })).toMatch(/"where" has a name/);
  }
  expect(guardOne({ table: "t", data: { ["a".repeat(63)]: 1, Select: 2, _: 3, z9: 4 } })).toMatchObject({ op: "insert" });
});

test("WO-PG-14 a table is one name, schema.table, or the pair", () => {
  const table = (name: unknown, given = settings) => guardOne({ table: name, data: { a: 1 } }, given);
  for (const name of ["t", "hub.parcels", ["hub", "order"]]) expect(table(name)).toMatchObject({ table: name });
  for (const name of [".t", "t.", "a..b", "a.b.c", "a .b", ["a"], ["a", "b", "c"], ["a", ""], ["a", 1], ["a.b", "c"], { a: 1 }, 7, true]) {
    expect(message({ table: name, data: { a: 1 } })).toMatch(/"table" must be t, schema\.t or \[schema, t\]/);
  }
});

test("WO-PG-15 quoted names are allowed by choice, for columns and the pair only", () => {
  const quoted = buildSettings({ allowQuotedIdentifiers: true });
  for (const name of ['a "b"', "1", "größe", "é".repeat(31), "a\n"]) {
    expect(guardOne({ table: ["my hub", name], data: { [name]: 1 } }, quoted)).toMatchObject({ op: "insert" });
    expect(message({ table: name, data: { a: 1 } }, quoted)).toMatch(/"table" must be/);
  }
  for (const name of ["", "a\0", "é".repeat(32), "\ud800"])
    expect(message({ table: "t", data: { [name]: 1 } }, quoted)).toMatch(/no name of a column/);
});

test("WO-GEN-07 guard 1 answers with a ValidationError, whatever it is given", () => {
  const anything = fc.anything({ withBigInt: true, withDate: true, withMap: true, withNullPrototype: true, withSparseArray: true });
  const field = fc.constantFrom("op", "update_columns", "newest_by", ...fields);
  const value = fc.oneof(anything, fc.constantFrom(...operations), fc.constantFrom(...Object.values(filled)));
  fc.assert(
    fc.property(fc.oneof(anything, fc.dictionary(field, value)), (payload) => {
      const answer = guardOne(payload);
      if (answer instanceof Error) expect(isErrorKind(answer, "ValidationError")).toBe(true);
      else expect(guardOne(answer)).toEqual(answer);
    }),
    { numRuns: 1000 },
  );
});
