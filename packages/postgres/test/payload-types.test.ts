import { type Handler, NumberToken } from "@sinks/core";
import { expect, expectTypeOf, test } from "vitest";
import { json } from "../src/payload/json-text.js";
import type { PostgresPayload } from "../src/payload/payload.js";
import type { StatementPayload } from "../src/payload/statement-payload.js";
import { buildSettings, guardTwo, statementsOf } from "./payload-fixture.js";

const configuration = {
  type: "postgres",
  statements: {
    park: {
      sql: "UPDATE lots SET w = :w, note = :note, tags = :tags WHERE id = :lot",
      params: { w: "numeric", note: "text?", tags: "int4[]", lot: "int8" },
      idempotent: true,
    },
    ping: "SELECT 1",
    touch: "UPDATE lots SET seen = now() WHERE id = :lot",
    store: { sql: "SELECT store(:doc, :raw, :at)", params: { doc: "jsonb", raw: "bytea", at: "timestamptz" } },
  },
} as const;

type Statements = typeof configuration.statements;
type Payload = PostgresPayload<Statements>;

/** Checked by the compiler; the payloads that compile are built too, so that types and guards agree. */
const builds = (...payloads: readonly Payload[]) => {
  const settings = buildSettings({ statements: statementsOf(configuration.statements) });
  for (const payload of payloads) expect(guardTwo(payload, null, settings)).toHaveProperty("values");
};

test("WO-GEN-18 FW-MAP-08 statements and params of a constant configuration compile by their names and types", () => {
  // What is typed from a constant fits wherever a payload is taken.
  expectTypeOf<Handler<Payload>>().toExtend<Handler<PostgresPayload>>();
  expectTypeOf<StatementPayload<Statements>["statement"]>().toEqualTypeOf<"park" | "ping" | "touch" | "store">();
  builds(
    { op: "statement", statement: "park", params: { w: "1.5", note: null, tags: [1, null], lot: 7n } },
    { op: "statement", statement: "park", params: { w: new NumberToken("1.5"), note: "x", tags: [], lot: 7 } },
    { op: "statement", statement: "ping" },
    { op: "statement", statement: "touch", params: { lot: "any" } },
    { op: "statement", statement: "store", params: { doc: { a: [1] }, raw: new Uint8Array(1), at: new Date(0) } },
    { op: "statement", statement: "store", params: { doc: json(null), raw: new Uint8Array(1), at: "2027-01-01T00:00:00Z" } },
  );
});

test("WO-GEN-18 FW-MAP-08 a wrong statement, a wrong param and a wrong type do not compile", () => {
  const payloads: readonly Payload[] = [
    // @ts-expect-error no such statement
    { op: "statement", statement: "unpark" },
    // @ts-expect-error a param is missing
    { op: "statement", statement: "park", params: { w: 1, note: null, tags: [] } },
    // @ts-expect-error a param that the statement does not have
    { op: "statement", statement: "park", params: { w: 1, note: null, tags: [], lot: 1, extra: 1 } },
    // @ts-expect-error text for an integer
    { op: "statement", statement: "park", params: { w: 1, note: null, tags: [], lot: "x" } },
    // @ts-expect-error null without a question mark
    { op: "statement", statement: "park", params: { w: null, note: null, tags: [], lot: 1 } },
    // @ts-expect-error params that declared types need
    { op: "statement", statement: "park" },
    // @ts-expect-error a single value for an array
    { op: "statement", statement: "park", params: { w: 1, note: null, tags: 1, lot: 1 } },
  ];
  expect(payloads).toHaveLength(7);
});

test("WO-PG-01 the fields of an operation are checked by the compiler too", () => {
  builds(
    { table: "t", data: { a: 1, b: null, c: { d: [1n] }, e: json("x"), f: [new Date(0)] } },
    { op: "update", table: ["hub", "t"], data: { a: 1 }, where: { id: 1n, gone: null } },
    { op: "upsert", table: "t", data: { a: 1, b: 2 }, conflict: ["a"], updateColumns: [], newestBy: "b" },
    { op: "delete", table: "t", where: { id: "x" } },
  );
  const payloads: readonly Payload[] = [
    // @ts-expect-error an insert has no predicate
    { table: "t", data: { a: 1 }, where: { a: 1 } },
    // @ts-expect-error an update needs one
    { op: "update", table: "t", data: { a: 1 } },
    // @ts-expect-error a predicate takes single values
    { op: "delete", table: "t", where: { id: [1] } },
    // @ts-expect-error an upsert needs its conflict columns
    { op: "upsert", table: "t", data: { a: 1 } },
    // @ts-expect-error undefined is no value
    { op: "insert", table: "t", data: { a: undefined } },
  ];
  expect(payloads).toHaveLength(5);
});
