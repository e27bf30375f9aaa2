import { encodeJson, isSinkError, NumberToken } from "@sinks/core";
import { type PostgresServer, startPostgres } from "@sinks/testing/services";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { PostgresClient } from "../src/client.js";
import type { Session } from "../src/connection/session.js";
import { checkPayload } from "../src/payload/check-payload.js";
import { json } from "../src/payload/json-text.js";
import { createPayloadBuilder, type PayloadBuilder } from "../src/render/build.js";
import type { TableTypes } from "../src/value/column-type.js";
import { buildSettings, render, statementsOf, tableTypes } from "./payload-fixture.js";
import { never, query, startClient, succeeded } from "./postgres-fixture.js";

let server: PostgresServer;
let client: PostgresClient & AsyncDisposable;
const settings = buildSettings({
  allowQuotedIdentifiers: true,
  statements: statementsOf({
    add: 'UPDATE "my yard"."kv""" SET n = n + :n WHERE k = :k',
    every: {
      sql: "SELECT :b, :i, :ia, :n, :f, :t, :u, :d, :z, :v, :x, :h, :j, :ja",
      params: {
        ...{ b: "bool", i: "int8", ia: "int8[]?", n: "numeric", f: "float8", t: "text", u: "uuid" },
        ...{ d: "date", z: "timestamptz", v: "interval", x: "bytea", h: "inet", j: "jsonb", ja: "json[]" },
      },
    },
  }),
});

beforeAll(async () => {
  server = await startPostgres();
  client = await startClient({ url: await server.createDatabase(), connections: 1 });
});
afterAll(async () => {
  await client?.[Symbol.asyncDispose]();
  await server?.[Symbol.asyncDispose]();
});

/** Runs texts in one pipeline; gives the rows of the first. */
async function run(session: Session, ...texts: readonly string[]) {
  return succeeded(await session.pipeline(texts.map((text) => query(text))))[0]?.rows ?? [];
}

/** Builds the payloads, joins neighbours and sends them; a payload that cannot be built fails the test. */
async function write(session: Session, builder: PayloadBuilder, payloads: readonly unknown[], types: TableTypes | null): Promise<void> {
  const writes = payloads.map((payload) => {
    const built = builder.build(checkPayload(payload, settings), types);
    if (isSinkError(built)) throw built;
    return built;
  });
  // One by one where a conflict may come twice: joining is the business of the chunks.
  const joined = writes.some(({ form }) => form.cutsAtRepeatedConflict) ? writes.flatMap((each) => render([each])) : render(writes);
  succeeded(await session.pipeline(joined));
}

/** Text that the database can hold, with what SQL and arrays use as structure. */
const text = fc
  .oneof(
    fc.string({ unit: "grapheme", maxLength: 12 }),
    fc.string({ unit: fc.constantFrom("'", '"', "\\", "{", "}", ",", "$1", ":x", "\n", "NULL", " ", "é", "😀"), maxLength: 8 }),
  )
  .map((value) => value.replaceAll("\0", ""));
const anyInt8 = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });
// Through its text and back, for a minus zero is a zero in JSON.
const jsonValue = fc
  .jsonValue({ depthSize: "small" })
  .filter(isStorable)
  .map((value) => JSON.parse(JSON.stringify(value)) as unknown);
const row = fc.record({
  t: fc.option(text),
  i: fc.option(fc.oneof(anyInt8, fc.maxSafeInteger())),
  n: fc.option(fc.oneof(fc.bigInt(), fc.constant(new NumberToken("0.12345678901234567890123456789")))),
  f: fc.option(fc.double({ noNaN: true, min: -1e15, max: 1e15 })),
  o: fc.option(fc.boolean()),
  z: fc.option(fc.date({ min: new Date("0001-01-01T00:00:00Z"), max: new Date("9999-12-31T23:59:59.999Z"), noInvalidDate: true })),
  x: fc.option(fc.uint8Array({ maxLength: 12 })),
  j: jsonValue,
  ta: fc.option(fc.array(fc.option(text), { maxLength: 5 })),
  ia: fc.option(fc.array(fc.option(anyInt8), { maxLength: 5 })),
  ja: fc.option(fc.array(jsonValue, { maxLength: 3 })),
});
const types = {
  t: "text",
  i: "int8",
  n: "numeric",
  f: "float8",
  o: "bool",
  z: "timestamptz",
  x: "bytea",
  j: "jsonb",
  ta: "text[]",
  ia: "int8[]",
  ja: "jsonb[]",
};
const readBack = `SELECT t, i::text, n::text, f::text, o::text, to_char(z AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), encode(x, 'hex'),
  j::text, to_json(ta)::text, ia::text[]::text, to_json(ja)::text FROM kinds ORDER BY place`;

/** JSON that has a text: no integers that lost digits, no halves of pairs, and no U+0000, which the database cannot hold. */
function isStorable(value: unknown): boolean {
  try {
    return !encodeJson(value).includes("\\u0000");
  } catch {
    return false;
  }
}

test("WO-VAL-03 WO-VAL-06 WO-VAL-07 WO-VAL-10 WO-VAL-11 the database gives back every value exactly, whatever its session's time zone", async () => {
  const builder = createPayloadBuilder(settings);
  const columns = Object.entries(types).map(([name, type]) => `${name} ${type}`);
  await client.use(never, async (session) => {
    await run(session, "SET timezone = 'America/New_York'", `CREATE TABLE kinds (place serial, ${columns.join(", ")})`);
    await fc.assert(
      fc.asyncProperty(fc.array(row, { minLength: 1, maxLength: 4 }), async (given) => {
        await write(
          session,
          builder,
          given.map((data) => ({ table: "kinds", data })),
          tableTypes(types),
        );
        const read = await run(session, readBack, "TRUNCATE kinds");
        for (const [index, one] of given.entries()) {
          const [t, i, n, f, o, z, x, j, ta, ia, ja] = read[index] ?? [];
          expect([t, i, n, o]).toEqual([one.t, one.i, one.n, one.o].map((value) => (value === null ? null : String(value))));
          expect(f === null || f === undefined ? null : Number(f)).toBe(one.f === null ? null : Number(String(one.f)));
          expect(z).toBe(one.z?.toISOString() ?? null);
          expect(x).toBe(one.x === null ? null : Buffer.from(one.x).toString("hex"));
          expect([j, ta, ja].map((value) => JSON.parse(value ?? "null"))).toEqual([one.j, one.ta, one.ja]);
          expect(ia).toBe(one.ia === null ? null : `{${one.ia.map((value) => value ?? "NULL").join(",")}}`);
        }
      }),
      { numRuns: 200 },
    );
    await run(session, "RESET timezone");
  });
});

test("WO-VAL-06 a time of the stream is cut to microseconds where the server would round it up", async () => {
  const builder = createPayloadBuilder(settings);
  await client.use(never, async (session) => {
    await run(session, "CREATE TABLE times (a timestamptz, b timestamp, c text)");
    const time = "2027-12-31T23:59:59.999999999Z";
    await write(
      session,
      builder,
      [{ table: "times", data: { a: time, b: time, c: time } }],
      tableTypes({ a: "timestamptz", b: "timestamp", c: "text" }),
    );
    expect(await run(session, "SELECT (a AT TIME ZONE 'UTC')::text, b::text, c FROM times")).toEqual([
      ["2027-12-31 23:59:59.999999", "2027-12-31 23:59:59.999999", time],
    ]);
  });
});

/** A table of one key and two columns, and what each operation makes of it. */
const key = fc.constantFrom("a", "b", "c", "d");
const number = fc.integer({ min: 0, max: 5 });
const note = fc.option(fc.constantFrom("x", "y"));
const operation = fc.oneof(
  fc.record({ op: fc.constant("upsert" as const), k: key, n: number, note, update: fc.constantFrom("all", "n", "none", "newest") }),
  fc.record({ op: fc.constant("update" as const), n: number, where: fc.record({ note }) }),
  fc.record({ op: fc.constant("delete" as const), where: fc.record({ n: number, note }) }),
  fc.record({ op: fc.constant("statement" as const), k: key, n: number }),
);
type Operation = typeof operation extends fc.Arbitrary<infer Value> ? Value : never;
type Model = Map<string, { n: number; note: string | null }>;

function payloadOf(operation: Operation): unknown {
  switch (operation.op) {
    case "upsert": {
      const { k, n, note: given, update } = operation;
      const fields = { all: {}, n: { updateColumns: ["n"] }, none: { updateColumns: [] }, newest: { newestBy: "n" } }[update];
      return { op: "upsert", table: ["my yard", 'kv"'], data: { k, n, note: given }, conflict: ["k"], ...fields };
    }
    case "update":
      return { op: "update", table: ["my yard", 'kv"'], data: { n: operation.n }, where: operation.where };
    case "delete":
      return { op: "delete", table: ["my yard", 'kv"'], where: operation.where };
    default:
      return { op: "statement", statement: "add", params: { n: operation.n, k: operation.k } };
  }
}

function applyTo(model: Model, operation: Operation): void {
  if (operation.op === "statement") {
    const row = model.get(operation.k);
    if (row !== undefined) row.n += operation.n;
    return;
  }
  if (operation.op === "upsert") {
    const { k, n, note: given, update } = operation;
    const row = model.get(k);
    if (row === undefined) model.set(k, { n, note: given });
    else if (update === "n") row.n = n;
    else if (update === "all" || (update === "newest" && row.n < n)) Object.assign(row, { n, note: given });
    return;
  }
  for (const [k, row] of model) {
    if (row.note !== operation.where.note) continue;
    if (operation.op === "update") row.n = operation.n;
    else if (row.n === operation.where.n) model.delete(k);
  }
}

test("WO-GEN-11 WO-GEN-21 WO-PG-03 WO-PG-04 WO-PG-07 WO-PG-10 WO-PG-15 WO-PG-36 WO-PG-37 random operations leave the table as their meaning says", async () => {
  const builder = createPayloadBuilder(settings);
  await client.use(never, async (session) => {
    await run(session, 'CREATE SCHEMA "my yard"', 'CREATE TABLE "my yard"."kv""" (k text PRIMARY KEY, n int8, note text)');
    await fc.assert(
      fc.asyncProperty(fc.array(operation, { maxLength: 20 }), async (operations) => {
        const model: Model = new Map();
        for (const each of operations) applyTo(model, each);
        await write(session, builder, operations.map(payloadOf), tableTypes({ k: "text", n: "int8", note: "text" }));
        const read = await run(session, 'SELECT k, n::text, note FROM "my yard"."kv""" ORDER BY k', 'TRUNCATE "my yard"."kv"""');
        expect(read).toEqual(
          [...model].sort(([one], [other]) => (one < other ? -1 : 1)).map(([k, { n, note: kept }]) => [k, String(n), kept]),
        );
      }),
      { numRuns: 200 },
    );
  });
});

test("WO-GEN-03 names of 63 bytes and values that look like SQL stay what they are", async () => {
  const builder = createPayloadBuilder(settings);
  const name = `${"é".repeat(30)}"; `;
  const forged = "'); DROP TABLE forged; --";
  await client.use(never, async (session) => {
    await run(session, `CREATE TABLE forged ("${name.replace('"', '""')}" text, "select" jsonb)`);
    const data = { [name]: forged, select: { $gt: "", [forged]: [forged] } };
    await write(
      session,
      builder,
      [
        { table: "forged", data },
        { table: "forged", data: { [name]: null, select: json(null) } },
      ],
      tableTypes({ [name]: "text", select: "jsonb" }),
    );
    const read = await run(session, "SELECT * FROM forged");
    expect(read.map(([one, other]) => [one, JSON.parse(other ?? "0")])).toEqual([
      [forged, { $gt: "", [forged]: [forged] }],
      [null, null],
    ]);
  });
});

test("WO-PGS-18 what passes the check of a declared type is a value to the server", async () => {
  const integer = fc.oneof(anyInt8, fc.maxSafeInteger(), anyInt8.map(String));
  const decimal = fc.oneof(
    fc.double({ noNaN: true, min: -1e15, max: 1e15 }).map(String),
    fc.bigInt(),
    fc.constantFrom(".5", "5.", "-1.50e-10", "1e100"),
  );
  const time = fc.oneof(
    fc.date({ min: new Date("0001-01-01T00:00:00Z"), max: new Date("9999-12-30T00:00:00Z"), noInvalidDate: true }),
    fc.constantFrom("2024-02-29", "2027-01-01T24:00:00Z", "2027-01-01 10:00:60.5+02", "infinity", "2027-01-01T10:00-05:30", "99999-01-01"),
  );
  const interval = fc.constantFrom("1 day", "2 years 3 mons -4 days 05:06:07.8", "P1Y2M3DT4H5M6.7S", "PT1H", "1-2", "1 hour ago", "90:00");
  const address = fc.oneof(
    fc.ipV4(),
    fc.ipV6().filter((value) => !value.includes(".")),
    fc.ipV4().map((value) => `${value}/8`),
  );
  const params = fc.record({
    b: fc.oneof(fc.boolean(), fc.constantFrom("t", "No", "ON", "0")),
    i: integer,
    ia: fc.option(fc.array(fc.option(integer), { maxLength: 3 })),
    n: decimal,
    f: fc.oneof(fc.double(), fc.constantFrom("NaN", "-Infinity", "1e-300")),
    t: text,
    u: fc.uuid(),
    d: time,
    z: time,
    v: interval,
    x: fc.oneof(fc.uint8Array({ maxLength: 4 }), fc.constantFrom("\\x", "\\xDEad")),
    h: address,
    j: jsonValue,
    ja: fc.array(jsonValue, { maxLength: 2 }),
  });
  const builder = createPayloadBuilder(settings);
  await client.use(never, async (session) => {
    await fc.assert(
      fc.asyncProperty(params, (given) =>
        write(session, builder, [{ op: "statement", statement: "every", params: { ...given, j: given.j ?? 0 } }], null),
      ),
      { numRuns: 300 },
    );
  });
});
