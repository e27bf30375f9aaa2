import { ValidationError } from "@sinks/core";
import { describe, expect, test } from "vitest";
import { checkPayload } from "../src/payload/check-payload.js";
import { describePlan, type MessageEntries, type PlanSettings } from "../src/plan/plan.js";
import { needsTypes, planEntry } from "../src/plan/plan-entry.js";
import { createPayloadBuilder } from "../src/render/build.js";
import { buildSettings, statementsOf, tableTypes } from "./payload-fixture.js";

const statements = statementsOf({ seen: "UPDATE depots SET seen = :by WHERE city = :city" });
const settings = buildSettings({ statements });
const builder = createPayloadBuilder(settings);
const parts = { builder, settings, types: () => tableTypes({ tags: "jsonb" }), showValues: false };
const whole: PlanSettings = {
  showValues: false,
  maximumChunkBytes: 1_000_000,
  safety: { answer: "safe" },
  ledger: false,
  notes: [],
};

const entries = (...payloads: unknown[]): MessageEntries => payloads.map((payload) => planEntry(payload, false, parts));
const insert = (code: unknown) => ({ table: "parcels", data: { code } });
const upsert = (sku: string, qty: number) => ({ op: "upsert", table: "hub.stock", data: { sku, qty }, conflict: ["sku"] });
const update = { op: "update", table: "parcels", data: { kg: 4 }, where: { code: "hidden-code", owner: null } };
const seen = { op: "statement", statement: "seen", params: { by: 1, city: "Graz" } };

describe("WO-OB-01 what a write is known by", () => {
  test.each([
    [insert("P1"), "parcels", { op: "insert" }],
    [update, "parcels", { op: "update", where: { code: "[redacted]", owner: null } }],
    [upsert("x", 1), "hub.stock", { op: "upsert", conflict: ["sku"] }],
    [{ op: "delete", table: ["hub", "order"], where: { id: 1 } }, "hub.order", { op: "delete", where: { id: "[redacted]" } }],
    [seen, "seen", { op: "statement" }],
  ])("WO-OB-01 %j", (payload, destination, extras) => {
    const [write] = describePlan([entries(payload)], whole).messages[0]?.writes ?? [];
    expect([write?.destination, write?.extras, write?.error]).toEqual([destination, extras, null]);
  });

  test("WO-OB-02 values of a predicate are shown when values are asked for", () => {
    expect(planEntry(update, false, { ...parts, showValues: true }).extras).toEqual({ op: "update", where: update.where });
  });
});

describe("WO-OB-02 the build step", () => {
  test("WO-OB-02 rendered text and the count of values; the text of a statement stays in the configuration", () => {
    const { messages } = describePlan([entries(update, seen)], whole);
    expect(messages[0]?.writes.map(({ rendered, valueCount, values }) => [rendered, valueCount, values])).toEqual([
      ['UPDATE "parcels" SET "kg" = $1 WHERE "code" = $2 AND "owner" IS NULL', 2, null],
      [null, 2, null],
    ]);
    expect(JSON.stringify(describePlan([entries(update, seen)], whole))).not.toMatch(/hidden-code|Graz|depots/);
  });

  test("WO-OB-02 values are shown as they are bound", () => {
    const { messages } = describePlan([entries({ table: "parcels", data: { tags: ["a"], n: 2n ** 60n } })], { ...whole, showValues: true });
    expect(messages[0]?.writes[0]?.values).toEqual(["1152921504606846976", '["a"]']);
  });

  test("WO-OB-02 WO-GEN-10 errors stand at their payload; the other writes of that message have no place", () => {
    const messages = [entries(insert("P1")), entries(insert("P2"), { table: "parcels" }, insert("a\0b")), entries(insert("P3"))];
    const plan = describePlan(messages, whole);
    expect(plan.messages.map(({ writes }) => writes.map(({ error, place }) => [error?.name ?? null, place]))).toEqual([
      [[null, { run: 0, chunk: 0 }]],
      [
        [null, null],
        ["ValidationError", null],
        ["ValidationError", null],
      ],
      [[null, { run: 0, chunk: 0 }]],
    ]);
    expect(plan.messages[1]?.writes[1]).toMatchObject({ destination: null, extras: { op: "insert" }, rendered: null });
    expect(plan.runs).toEqual([{ operation: "insert", destination: "parcels", chunks: [2] }]);
  });

  test("WO-OB-02 a message that is rejected as a whole, or has nothing to write, takes no place", () => {
    const rejected = new ValidationError("no rule matches");
    const plan = describePlan([rejected, [], entries(insert("P1"))], whole);
    expect(plan.messages.map(({ error, writes }) => [error, writes.length])).toEqual([
      [rejected, 0],
      [null, 0],
      [null, 1],
    ]);
    expect(plan.messages[2]?.writes[0]?.place).toEqual({ run: 0, chunk: 0 });
  });

  test("WO-OB-02 WO-PG-20, WO-PG-22 runs and chunks are those of the execution", () => {
    const batch = [entries(upsert("x", 1), upsert("y", 2)), entries(upsert("x", 3)), entries(insert("P1")), entries(seen), entries(seen)];
    const plan = describePlan(batch, whole);
    expect(plan.runs).toEqual([
      { operation: "upsert", destination: "hub.stock", chunks: [2, 1] },
      { operation: "insert", destination: "parcels", chunks: [1] },
      { operation: "statement", destination: "seen", chunks: [1, 1] },
    ]);
    expect(plan.messages.flatMap(({ writes }) => writes.map(({ place }) => `${place?.run}.${place?.chunk}`))).toEqual([
      "0.0",
      "0.0",
      "0.1",
      "1.0",
      "2.0",
      "2.1",
    ]);
  });
});

test.each([
  [{}, [update], "safe", "every write leaves the same when it is repeated"],
  [{ ledger: true }, [insert("P1")], "safe", "the ledger lets a repeat take effect once"],
  [{}, [], "safe", "nothing is written"],
  [{ safety: { answer: "unsafe", reason: "an insert adds a row each time" } }, [insert("P1")], "unsafe", "an insert adds a row each time"],
] as const)("WO-OB-02 WO-RT-01 the answer on retry safety has its reason: %j", (changes, payloads, answer, reason) => {
  expect(describePlan([entries(...payloads)], { ...whole, ...changes }).retrySafety).toEqual({ answer, reason });
});

test.each([
  [insert("P1"), false],
  [insert(null), false],
  [insert(new Date(0)), false],
  [insert(["a"]), true],
  [insert({ a: 1 }), true],
  [seen, false],
  [{ op: "delete", table: "t", where: { id: 1 } }, false],
])("WO-VAL-11 only lists and objects need the types of their table: %j", (payload, needed) => {
  expect(needsTypes(checkPayload(payload, settings))).toBe(needed);
});
