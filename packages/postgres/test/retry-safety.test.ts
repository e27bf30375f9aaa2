import { expect, test } from "vitest";
import type { PostgresPayload } from "../src/payload/payload.js";
import { type RetrySafetySettings, retrySafety } from "../src/payload/retry-safety.js";
import { statementsOf } from "./payload-fixture.js";

const statements = statementsOf({ park: "UPDATE t SET a = 1", touch: { sql: "UPDATE t SET a = 1", idempotent: true } });
const answer = (payloads: readonly PostgresPayload[], changes: Partial<RetrySafetySettings> = {}) =>
  retrySafety(payloads, { mode: "narrowed", ledger: false, statements, ...changes }).answer;

const insert: PostgresPayload = { op: "insert", table: "t", data: { a: 1 } };
const update: PostgresPayload = { op: "update", table: "t", data: { a: 1 }, where: { id: 1 } };
const moving: PostgresPayload = { op: "update", table: "t", data: { st: "b" }, where: { st: "a" } };
const upsert: PostgresPayload = { op: "upsert", table: "t", data: { a: 1, id: 1 }, conflict: ["id"] };
const loose: PostgresPayload = { op: "upsert", table: "t", data: { a: 1 }, conflict: ["slug"] };
const remove: PostgresPayload = { op: "delete", table: "t", where: { id: 1 } };
const park: PostgresPayload = { op: "statement", statement: "park" };
const touch: PostgresPayload = { op: "statement", statement: "touch" };

test.each([
  ["insert", insert, "unsafe"],
  ["an insert without op", { table: "t", data: { a: 1 } } as PostgresPayload, "unsafe"],
  ["update", update, "safe"],
  ["upsert", upsert, "safe"],
  ["delete", remove, "safe"],
  ["statement", park, "unsafe"],
  ["a statement said to be idempotent", touch, "safe"],
  ["a statement that nobody configured", { op: "statement", statement: "nope" } as PostgresPayload, "unsafe"],
] as const)("WO-RT-03 WO-RT-05 %s: %o is %s", (_, payload, expected) => {
  expect(answer([payload])).toBe(expected);
  expect(answer([payload], { mode: "table" })).toBe(expected);
});

test("WO-RT-01 one veto spoils the batch, and the empty batch is safe", () => {
  expect(answer([])).toBe("safe");
  expect(answer([update, upsert, remove, touch])).toBe("safe");
  expect(answer([update, upsert, insert, remove])).toBe("unsafe");
});

test("WO-RT-04 an upsert whose conflict columns are not in data is a veto, but for the table's own word", () => {
  expect(answer([loose])).toBe("unsafe");
  expect(answer([loose], { mode: "table" })).toBe("safe");
});

test("WO-RT-04 an update that moves its own predicate is a veto beside another payload for its table", () => {
  expect(answer([moving])).toBe("safe");
  expect(answer([moving, update])).toBe("unsafe");
  expect(answer([remove, moving])).toBe("unsafe");
  expect(answer([moving, update], { mode: "table" })).toBe("safe");
  expect(answer([moving, { ...update, table: "u" }])).toBe("safe");
  expect(answer([moving, { ...update, table: "hub.t" }])).toBe("unsafe");
  expect(
    answer([
      { ...moving, table: "hub.t" },
      { ...update, table: ["hub", "t"] },
    ]),
  ).toBe("unsafe");
  expect(
    answer([
      { ...moving, table: "hub.t" },
      { ...update, table: "yard.t" },
    ]),
  ).toBe("safe");
});

test.each([
  [{ st: "a" }, { st: "a" }, "safe"],
  [{ st: 1 }, { st: 1n }, "unsafe"],
  [{ st: new Date(0) }, { st: new Date(0) }, "safe"],
  [{ st: Buffer.from("x") }, { st: Buffer.from("x") }, "safe"],
  [{ st: null }, { st: null }, "safe"],
  [{ st: "a" }, { st: null }, "unsafe"],
  [{ st: null }, { st: "a" }, "unsafe"],
  [{ st: [1] }, { st: "a" }, "unsafe"],
  [{ other: 1 }, { st: "a" }, "safe"],
] as const)("WO-RT-04 data %o for rows where %o, beside another payload, is %s", (data, where, expected) => {
  expect(answer([{ op: "update", table: "t", data, where }, remove])).toBe(expected);
});

test("WO-RT-06 with the ledger every batch is safe", () => {
  expect(answer([insert, park, loose, moving], { ledger: true })).toBe("safe");
});

test("WO-OB-02 the reason names what vetoes, never a value", () => {
  expect(retrySafety([park], { mode: "narrowed", ledger: false, statements })).toEqual({
    answer: "unsafe",
    reason: 'statement "park" is not said to be idempotent',
  });
});
