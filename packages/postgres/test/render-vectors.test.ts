import { isErrorKind, isSinkError } from "@sinks/core";
import { expect, test } from "vitest";
import { checkPayload } from "../src/payload/check-payload.js";
import { createPayloadBuilder } from "../src/render/build.js";
import { buildAll, buildSettings, guardOne, guardTwo, render, rendered, tableTypes } from "./payload-fixture.js";

const stock = { op: "upsert", table: "stock", data: { sku: "x", qty: 5, bin: "k" }, conflict: ["sku"] };
const stockHead = 'INSERT INTO "stock" ("bin", "qty", "sku") VALUES ($1, $2, $3) ON CONFLICT ("sku") DO ';

const one: readonly [id: string, payload: unknown, text: string, values: readonly unknown[]][] = [
  [
    "S01",
    { op: "insert", table: "parcels", data: { weight: 3, code: "P1" } },
    'INSERT INTO "parcels" ("code", "weight") VALUES ($1, $2)',
    ["P1", "3"],
  ],
  ["S02", { table: "depots", data: { city: "Graz" } }, 'INSERT INTO "depots" ("city") VALUES ($1)', ["Graz"]],
  [
    "S03",
    { op: "insert", table: "parcels", data: { b: 1, B: 2, _c: 3 } },
    'INSERT INTO "parcels" ("B", "_c", "b") VALUES ($1, $2, $3)',
    ["2", "3", "1"],
  ],
  ["S04", { op: "insert", table: "hub.parcels", data: { code: null } }, 'INSERT INTO "hub"."parcels" ("code") VALUES ($1)', [null]],
  ["S05", { op: "insert", table: ["hub", "order"], data: { group: 1 } }, 'INSERT INTO "hub"."order" ("group") VALUES ($1)', ["1"]],
  [
    "S08",
    { op: "update", table: "parcels", data: { state: "lost", kg: 4 }, where: { code: "P7" } },
    'UPDATE "parcels" SET "kg" = $1, "state" = $2 WHERE "code" = $3',
    ["4", "lost", "P7"],
  ],
  [
    "S09",
    { op: "update", table: "t", data: { a: 1 }, where: { z: 2, owner: null, b: 3, area: null } },
    'UPDATE "t" SET "a" = $1 WHERE "b" = $2 AND "z" = $3 AND "area" IS NULL AND "owner" IS NULL',
    ["1", "3", "2"],
  ],
  ["S10", { op: "update", table: "t", data: { a: null }, where: { gone: null } }, 'UPDATE "t" SET "a" = $1 WHERE "gone" IS NULL', [null]],
  ["S11", { op: "update", table: "t", data: { st: "b" }, where: { st: "a" } }, 'UPDATE "t" SET "st" = $1 WHERE "st" = $2', ["b", "a"]],
  ["S12 WO-PG-09", stock, `${stockHead}UPDATE SET "bin" = EXCLUDED."bin", "qty" = EXCLUDED."qty"`, ["k", "5", "x"]],
  [
    "S13 WO-PG-09",
    { ...stock, updateColumns: ["qty", "bin"] },
    `${stockHead}UPDATE SET "qty" = EXCLUDED."qty", "bin" = EXCLUDED."bin"`,
    ["k", "5", "x"],
  ],
  [
    "S14 WO-PG-09 WO-PG-10",
    { op: "upsert", table: "stock", data: { sku: "x", site: "n" }, conflict: ["site", "sku"] },
    'INSERT INTO "stock" ("site", "sku") VALUES ($1, $2) ON CONFLICT ("site", "sku") DO NOTHING',
    ["n", "x"],
  ],
  ["S15", { ...stock, updateColumns: [] }, `${stockHead}NOTHING`, ["k", "5", "x"]],
  [
    "S16",
    { op: "upsert", table: "stock", data: { qty: 1 }, conflict: ["slug"] },
    'INSERT INTO "stock" ("qty") VALUES ($1) ON CONFLICT ("slug") DO UPDATE SET "qty" = EXCLUDED."qty"',
    ["1"],
  ],
  [
    "S21",
    { table: "t", data: { n: 9007199254740993n, at: new Date("2027-02-03T04:05:06Z") } },
    'INSERT INTO "t" ("at", "n") VALUES ($1, $2)',
    ["2027-02-03T04:05:06.000Z", "9007199254740993"],
  ],
  ["S31", { op: "delete", table: "t", where: { b: 2, a: null } }, 'DELETE FROM "t" WHERE "b" = $1 AND "a" IS NULL', ["2"]],
  [
    "S33",
    { ...stock, newestBy: "qty" },
    `${stockHead}UPDATE SET "bin" = EXCLUDED."bin", "qty" = EXCLUDED."qty" WHERE "stock"."qty" < EXCLUDED."qty"`,
    ["k", "5", "x"],
  ],
];

test.each(one)("WO-PG-02 WO-PG-03 WO-PG-04 WO-PG-36 %s", (_, payload, text, values) => {
  expect(rendered([payload])).toEqual([[text, values]]);
});

test("S06 WO-PG-05 WO-PG-16 rows of one shape join whatever the order of their names", () => {
  const payloads = [
    { table: "parcels", data: { code: "A", kg: 1 } },
    { op: "insert", table: ["public", "x"], data: { kg: 0 } },
    { table: "parcels", data: { kg: 2, code: "B" } },
  ];
  const [first, , third] = buildAll(payloads);
  expect(third?.form).toBe(first?.form);
  expect(rendered([payloads[0], payloads[2]])).toEqual([
    ['INSERT INTO "parcels" ("code", "kg") VALUES ($1, $2), ($3, $4)', ["A", "1", "B", "2"]],
  ]);
});

test("S07 WO-VAL-15 rows with different columns are different shapes", () => {
  expect(
    rendered([
      { table: "t", data: { code: "A" } },
      { table: "t", data: { code: "B", kg: 2 } },
    ]),
  ).toEqual([
    ['INSERT INTO "t" ("code") VALUES ($1)', ["A"]],
    ['INSERT INTO "t" ("code", "kg") VALUES ($1, $2)', ["B", "2"]],
  ]);
});

test("S22 WO-VAL-11 arrays in jsonb columns stay JSON arrays", () => {
  const types = tableTypes({ tags: "jsonb", more: "jsonb" });
  expect(rendered([{ table: "t", data: { tags: ["a"], more: [] } }], types)).toEqual([[expect.any(String), ["[]", '["a"]']]]);
});

test("S23 WO-VAL-11 arrays in array columns are Postgres arrays", () => {
  expect(rendered([{ table: "t", data: { ids: [1, 2] } }], tableTypes({ ids: "int8[]" }))).toEqual([
    ['INSERT INTO "t" ("ids") VALUES ($1)', ["{1,2}"]],
  ]);
});

const guardOneVectors: readonly [id: string, payload: unknown, message: string][] = [
  ["S24", { op: "update", table: "t", data: { a: 1 }, where: {} }, 'update: it requires "where"'],
  ["S24", { op: "update", table: "t", data: { a: 1 } }, 'update: it requires "where"'],
  ["S25", { op: "update", table: "t", data: { a: 1 }, where: { id: undefined } }, "update: where.id is undefined"],
  ["S26", { ...stock, updateColumns: ["sku"] }, '"updateColumns" and "conflict" overlap in "sku"'],
  ...["a.b.c", "t x", "1t", "té", 't"', "t\n", "a".repeat(64)].map((table): [string, unknown, string] => [
    "S28",
    { table, data: { a: 1 } },
    'insert: "table" must be',
  ]),
  ["S32", { op: "delete", table: "t", where: {} }, 'delete: it requires "where"'],
];

test.each(guardOneVectors)("WO-GEN-09 %s fails guard 1", (_, payload, message) => {
  const error = guardOne(payload);
  expect(isErrorKind(error, "ValidationError")).toBe(true);
  expect((error as Error).message).toContain(message);
});

test("S27 WO-PG-11 a column to update that is not in data fails guard 2", () => {
  const error = guardTwo({ ...stock, updateColumns: ["nope"] });
  expect(isErrorKind(error, "ValidationError")).toBe(true);
  expect((error as Error).message).toContain('"nope" of updateColumns is not present in data');
  expect(guardTwo({ ...stock, newestBy: "nope" })).toMatchObject({ message: expect.stringContaining("not present in data") });
});

test("S29 WO-VAL-04 WO-GEN-10 U+0000 fails its own payload, its neighbours are built and join", () => {
  const settings = buildSettings();
  const builder = createPayloadBuilder(settings);
  const built = ["one", "t\0wo", "three"].map((name) => builder.build(checkPayload({ table: "t", data: { name } }, settings), null));
  expect(built.map((each) => isErrorKind(each, "PermanentSinkError"))).toEqual([false, true, false]);
  expect(render(built.flatMap((each) => (isSinkError(each) ? [] : [each])))).toMatchObject([{ values: ["one", "three"] }]);
});

test.each([{ n: 2 ** 53 }, { n: Number.NaN }, { f: () => 1 }])(
  "S30 WO-VAL-02 WO-VAL-03 what is no exact value is permanent: %o",
  (data) => {
    expect(isErrorKind(guardTwo({ table: "t", data }), "PermanentSinkError")).toBe(true);
  },
);
