import { isErrorKind } from "@sinks/core";
import fc from "fast-check";
import { expect, test } from "vitest";
import { checkPayload } from "../src/payload/check-payload.js";
import type { PostgresPayload } from "../src/payload/payload.js";
import { createPayloadBuilder } from "../src/render/build.js";
import type { BuiltWrite } from "../src/render/built-write.js";
import { buildAll, buildSettings, guardTwo, render, statementsOf } from "./payload-fixture.js";

const upsert = (data: object, fields: object = {}) => ({ op: "upsert", table: "t", data, conflict: ["a", "b"], ...fields });
const formOf = (payload: unknown) => (guardTwo(payload) as BuiltWrite).form;

test("WO-GEN-09 a payload that changed after guard 1 is caught by guard 2", () => {
  const settings = buildSettings();
  const builder = createPayloadBuilder(settings);
  const changed = (change: (payload: { data: Record<string, unknown>; where: Record<string, unknown>; conflict: string[] }) => void) => {
    const data: Record<string, unknown> = { a: 1 };
    const where: Record<string, unknown> = { id: 1 };
    const conflict = ["a"];
    const payloads = [
      { op: "update", table: "t", data, where },
      { op: "upsert", table: "t", data, conflict },
    ].map((payload) => checkPayload(payload, settings));
    for (const payload of payloads) expect(isErrorKind(builder.build(payload, null), "PermanentSinkError")).toBe(false);
    change({ data, where, conflict });
    return payloads.map((payload) => isErrorKind(builder.build(payload, null), "PermanentSinkError"));
  };
  expect(changed(({ data }) => delete data["a"])).toEqual([true, true]);
  expect(changed(({ where }) => delete where["id"])).toEqual([true, false]);
  expect(changed(({ where }) => Object.assign(where, { id: undefined }))).toEqual([true, false]);
  expect(changed(({ data }) => Object.assign(data, { 'x") VALUES (1); --': 1 }))).toEqual([true, true]);
  expect(changed(({ conflict }) => conflict.push('x") DO NOTHING; --'))).toEqual([false, true]);
  expect(changed(({ conflict }) => conflict.push("a"))).toEqual([false, true]);
});

test("WO-GEN-10 a payload that throws when it is read fails alone", () => {
  const data = {
    get a() {
      throw new RangeError("secret");
    },
  };
  const answer = createPayloadBuilder(buildSettings()).build({ op: "insert", table: "t", data: data as never }, null);
  expect(isErrorKind(answer, "PermanentSinkError")).toBe(true);
  expect((answer as unknown as Error).message).not.toContain("secret");
  const broken = createPayloadBuilder(buildSettings()).build({ op: "insert", table: "t", data: null } as unknown as PostgresPayload, null);
  expect(isErrorKind(broken, "PermanentSinkError")).toBe(true);
});

test("WO-PG-20 a form is one object for one shape, however it was written", () => {
  const settings = buildSettings();
  const builder = createPayloadBuilder(settings);
  const forms = (payloads: readonly unknown[]) => new Set(buildAll(payloads, null, settings, builder).map(({ form }) => form)).size;
  const data = { a: 1, b: 2, c: 3 };
  expect(forms([upsert(data), upsert({ c: 1, b: 1, a: 1 }), upsert(data, { updateColumns: ["c"] }), upsert(data, { table: "t" })])).toBe(1);
  expect(
    forms([
      { table: "hub.t", data },
      { table: ["hub", "t"], data },
    ]),
  ).toBe(1);
  expect(
    forms([
      upsert(data),
      upsert(data, { conflict: ["b", "a"] }),
      upsert(data, { updateColumns: [] }),
      upsert(data, { newestBy: "c" }),
      upsert({ a: 1, b: 2 }),
      upsert(data, { table: "u" }),
      upsert(data, { table: ["t", "t"] }),
      { table: "t", data },
    ]),
  ).toBe(8);
  const update = (where: object) => ({ op: "update", table: "t", data, where });
  expect(
    forms([
      update({ a: 1, b: null }),
      update({ b: null, a: 2 }),
      update({ a: null, b: 1 }),
      update({ a: null, b: null }),
      update({ a: 1 }),
    ]),
  ).toBe(4);
});

test("WO-PG-20 lists of odd names never share a form", () => {
  const name = fc.string({ minLength: 1, maxLength: 4, unit: fc.constantFrom("a", "|", ":", "1", '"', ".", ",") });
  const names = fc.uniqueArray(name, { minLength: 1, maxLength: 3 });
  const settings = buildSettings({ allowQuotedIdentifiers: true });
  fc.assert(
    fc.property(fc.array(fc.record({ columns: names, conflict: names }), { minLength: 2, maxLength: 6 }), (given) => {
      const builder = createPayloadBuilder(settings);
      const payloads = given.map(({ columns, conflict }) => ({
        op: "upsert",
        table: "t",
        data: Object.fromEntries(columns.map((column) => [column, 1])),
        conflict,
      }));
      const writes = buildAll(payloads, null, settings, builder);
      const keys = given.map(({ columns, conflict }) => JSON.stringify([columns.toSorted(), conflict]));
      for (const [left, one] of writes.entries()) {
        for (const [right, other] of writes.entries()) expect(one.form === other.form).toBe(keys[left] === keys[right]);
      }
    }),
  );
});

test("WO-PG-21 rows of one statement stay within 65535 parameters", () => {
  expect(formOf({ table: "t", data: { a: 1, b: 1, c: 1 } }).maximumRows).toBe(21_845);
  expect(formOf({ table: "t", data: { a: 1 } }).maximumRows).toBe(65_535);
  expect(formOf({ op: "update", table: "t", data: { a: 1 }, where: { b: 1 } }).maximumRows).toBe(1);
  const wide = Object.fromEntries(Array.from({ length: 65_536 }, (_, index) => [`c${index}`, 1]));
  expect(guardTwo({ table: "t", data: wide })).toMatchObject({ message: expect.stringContaining("more than 65535") });
  const { c0: _, ...widest } = wide;
  expect(formOf({ table: "t", data: widest }).maximumRows).toBe(1);
});

test("WO-PG-20 rows join whatever the length and the order of their names", () => {
  const data = Object.fromEntries(Array.from({ length: 600 }, (_, index) => [`${"c".repeat(50)}${index}`, index]));
  const reversed = Object.fromEntries(Object.entries(data).reverse());
  const payloads = [data, reversed, data, reversed].map((each) => ({ table: "t", data: each }));
  expect(render(buildAll(payloads))).toMatchObject([{ values: { length: 2400 } }]);
});

test("WO-PG-22 only DO UPDATE with all conflict columns in data is cut at a repeated conflict", () => {
  const data = { a: 1, b: 2, c: 3 };
  expect(formOf(upsert(data)).cutsAtRepeatedConflict).toBe(true);
  expect(formOf(upsert(data, { updateColumns: [] })).cutsAtRepeatedConflict).toBe(false);
  expect(formOf(upsert({ a: 1, b: 2 })).cutsAtRepeatedConflict).toBe(false);
  expect(formOf(upsert({ a: 1, c: 3 })).cutsAtRepeatedConflict).toBe(false);
  expect(formOf({ table: "t", data }).cutsAtRepeatedConflict).toBe(false);
});

test("WO-PG-22 conflict tuples are equal only when their values are", () => {
  const tuple = (data: object, conflict = ["a", "b"]) => (guardTwo(upsert({ ...data, z: 0 }, { conflict })) as BuiltWrite).conflict;
  expect(tuple({ a: "1", b: "2" })).toBe(tuple({ b: "2", a: "1" }));
  expect(tuple({ a: "1", b: "23" })).not.toBe(tuple({ a: "12", b: "3" }));
  expect(tuple({ a: "1:1", b: "" })).not.toBe(tuple({ a: "1", b: "1:" }));
  expect(tuple({ a: 1, b: null })).toBeNull();
  expect(tuple({ a: 1 })).toBeNull();
  expect(tuple({ a: "x" }, ["a"])).toBe("x");
  expect((guardTwo({ table: "t", data: { a: 1 } }) as BuiltWrite).conflict).toBeNull();
});

test("WO-PG-33 texts of several rows are prepared in row counts that repeat", () => {
  const builder = createPayloadBuilder(buildSettings());
  const rows = (count: number, columns = 1) => {
    const data = Object.fromEntries(Array.from({ length: columns }, (_, index) => [`c${index}`, index]));
    const payloads = Array.from({ length: count }, () => ({ table: "t", data }));
    return render(buildAll(payloads, null, buildSettings(), builder))[0]?.prepare;
  };
  expect([1, 1, 7, 1000, 3, 1000, 7].map((count) => rows(count))).toEqual([false, true, false, false, false, true, true]);
  // Twenty sizes later it counts as new again.
  for (let count = 20; count < 40; count += 1) rows(count);
  expect(rows(7)).toBe(false);
  expect([rows(3000, 3), rows(3000, 3)]).toEqual([false, false]);
  expect(render(buildAll([{ op: "delete", table: "t", where: { a: 1 } }]))).toMatchObject([{ prepare: true }]);
});

test("WO-PG-08 WO-PG-37 no row is what an insert asks for; of others the sink or the statement says what it means", () => {
  const statements = statementsOf({ a: "SELECT 1", b: { sql: "SELECT 1", on_zero_rows: "ignore" } });
  const settings = buildSettings({ onZeroRows: "fail", statements });
  const meaning = (payload: unknown) => (guardTwo(payload, null, settings) as BuiltWrite).form.onZeroRows;
  expect(meaning({ op: "update", table: "t", data: { a: 1 }, where: { b: 1 } })).toBe("fail");
  expect(meaning({ op: "delete", table: "t", where: { b: 1 } })).toBe("fail");
  expect(meaning({ op: "statement", statement: "a" })).toBe("fail");
  expect(meaning({ op: "statement", statement: "b" })).toBe("ignore");
  expect(meaning({ table: "t", data: { a: 1 } })).toBe("ignore");
  expect(meaning(upsert({ a: 1, b: 2, c: 3 }, { newestBy: "c" }))).toBe("ignore");
});

test("WO-OB-03 a write names its operation and its table or statement, never a text", () => {
  const settings = buildSettings({ statements: statementsOf({ park: "SELECT 1" }) });
  const write = (payload: unknown) => guardTwo(payload, null, settings);
  expect(write({ table: ["hub", "t"], data: { a: 1 } })).toMatchObject({ form: { operation: "insert", destination: "hub.t" } });
  expect(write({ op: "statement", statement: "park" })).toMatchObject({ form: { operation: "statement", destination: "park" }, bytes: 0 });
});

test("WO-ERR-05 a write says whether the message chose its names", () => {
  const builder = createPayloadBuilder(buildSettings());
  const insert = { op: "insert", table: "t", data: { a: 1 } } as const;
  expect(builder.build(insert, null)).toMatchObject({ namesFromMessage: false });
  expect(builder.build(insert, null, true)).toMatchObject({ namesFromMessage: true });
});

test("WO-PG-21 the size of a write is that of its values, about", () => {
  const size = (v: unknown) => (guardTwo({ table: "t", data: { v } }) as BuiltWrite).bytes;
  expect(size("é".repeat(1000))).toBe(2004);
  expect(size("abc")).toBe(7);
  expect(size(null)).toBe(4);
});

test("WO-VAL-11 the builder says which table's types it needs", () => {
  const settings = buildSettings();
  const builder = createPayloadBuilder(settings);
  const table = (payload: unknown) => builder.table(checkPayload(payload, settings));
  expect(table({ table: "hub.t", data: { a: 1 } })).toEqual({ text: '"hub"."t"', label: "hub.t" });
  expect(table({ table: "hub.t", data: { a: 1 } })).toBe(table({ table: "hub.t", data: { b: 1 } }));
  expect(table({ op: "statement", statement: "park" })).toBeNull();
});

test("WO-PG-15 quotes in names are doubled", () => {
  const settings = buildSettings({ allowQuotedIdentifiers: true });
  const payload = { op: "upsert", table: ["my hub", 'a"b'], data: { 'c"; --': 1 }, conflict: ['k"'] };
  expect(render(buildAll([payload], null, settings))).toMatchObject([
    { text: 'INSERT INTO "my hub"."a""b" ("c""; --") VALUES ($1) ON CONFLICT ("k""") DO UPDATE SET "c""; --" = EXCLUDED."c""; --"' },
  ]);
});

test("WO-GEN-19 columns are sorted by UTF-8 bytes", () => {
  const settings = buildSettings({ allowQuotedIdentifiers: true });
  const names = ["\uffee", "😀", "é", "z", "Z", "ab", "a"];
  const data = Object.fromEntries(names.map((name) => [name, 1]));
  const bytes = names.toSorted((left, right) => Buffer.compare(Buffer.from(left), Buffer.from(right)));
  expect(render(buildAll([{ table: "t", data }], null, settings))[0]?.text).toContain(`(${bytes.map((name) => `"${name}"`).join(", ")})`);
});
