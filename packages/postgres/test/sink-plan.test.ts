import { expect, test } from "vitest";
import { makeSink, message } from "./sink-fixture.js";

/** Nothing listens there: a plan that connected would say so. */
const nowhere = { url: "postgres://sinks@127.0.0.1:1/sinks", connect_timeout_ms: 500 };
const request = { showValues: false, signal: AbortSignal.timeout(20_000) };

const write = [
  { when: { subject: "events.part" }, op: "upsert", table: "parts", data: { sku: ":payload.sku", kg: ":payload.kg?" }, conflict: ["sku"] },
  { when: { subject: "events.gone" }, op: "delete", table: "parts", where: { sku: ":payload.sku" } },
  { when: { subject: "events.seen" }, op: "statement", statement: "seen", params: { city: ":payload.city" } },
];
const statements = { seen: "UPDATE depots SET seen = seen + 1 WHERE city = :city" };
const at = (subject: string, sequence: number, body: unknown) => message(sequence, body, { subject });

test("WO-OB-01, WO-OB-02 a write map is planned without the database", async () => {
  const sink = makeSink({ ...nowhere, statements, write });
  const messages = [
    at("events.part", 1, { sku: "a", kg: 1 }),
    at("events.part", 2, { sku: "b" }),
    at("events.part", 3, { kg: 1 }),
    at("events.gone", 4, { sku: "a" }),
    at("events.seen", 5, { city: "Graz" }),
    at("events.other", 6, {}),
  ];
  const plan = await sink.plan(messages, request);
  expect(
    plan.messages.map(({ error, writes }) => [error?.code ?? null, writes.map(({ destination, extras }) => [destination, extras])]),
  ).toEqual([
    [null, [["parts", { op: "upsert", conflict: ["sku"] }]]],
    [null, [["parts", { op: "upsert", conflict: ["sku"] }]]],
    ["reference_missing", []],
    [null, [["parts", { op: "delete", where: { sku: "[redacted]" } }]]],
    [null, [["seen", { op: "statement" }]]],
    ["no_write_match", []],
  ]);
  expect(plan.runs).toEqual([
    { operation: "upsert", destination: "parts", chunks: [2] },
    { operation: "delete", destination: "parts", chunks: [1] },
    { operation: "statement", destination: "seen", chunks: [1] },
  ]);
  expect(plan.retrySafety).toEqual({ answer: "unsafe", reason: 'statement "seen" is not said to be idempotent' });
  expect(plan.notes).toEqual([]);
});

test("WO-OB-02 whole messages are planned without the database, and the table by a token", async () => {
  const sink = makeSink({ ...nowhere, table_by: { token: 2, allow: ["orders"] } });
  const plan = await sink.plan([at("events.orders", 1, { n: 1 }), at("events.other", 2, { n: 2 })], request);
  expect(
    plan.messages.map(({ error, writes }) => [error?.code ?? null, writes.map(({ destination, extras }) => [destination, extras])]),
  ).toEqual([
    [null, [["orders", { op: "envelope" }]]],
    ["destination_not_allowed", []],
  ]);
  expect(plan.messages[0]?.writes[0]?.rendered).toMatch(
    /^INSERT INTO "orders" .* ON CONFLICT \(stream, stream_created_ns, stream_sequence\) DO NOTHING$/,
  );
  expect(plan.retrySafety).toEqual({ answer: "safe", reason: "every write leaves the same when it is repeated" });
});

test("WO-OB-02 WO-VAL-11 a database that cannot be asked for types is a note, not a failure", async () => {
  const sink = makeSink({ ...nowhere, write: [{ table: "parts", data: { tags: ":payload.tags" } }] });
  const plan = await sink.plan([message(1, { tags: ["a"] })], { ...request, showValues: true });
  expect(plan.messages[0]?.writes[0]?.values).toEqual(['["a"]']);
  expect(plan.notes).toEqual([expect.stringMatching(/^the types of columns could not be read, so lists and objects are taken for JSON: /)]);
});

test("FW-CLI-01 FW-LED-07 the schema is printed as statements with their ends, the ledger's with the ledger only", () => {
  const ends = (sink: ReturnType<typeof makeSink>) => sink.ddl().map((statement) => [/"(\w+)"/.exec(statement)?.[1], statement.at(-1)]);
  expect(ends(makeSink(nowhere))).toEqual([["sinks_messages", ";"]]);
  expect(ends(makeSink({ ...nowhere, statements, write }))).toEqual([]);
  expect(ends(makeSink({ ...nowhere, statements, write, ledger: { enabled: true } }))).toEqual([
    ["sinks_ledger", ";"],
    ["sinks_ledger_applied_at", ";"],
  ]);
});
