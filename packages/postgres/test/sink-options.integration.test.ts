import type { WriteOutcome } from "@sinks/core";
import { type PostgresServer, startPostgres } from "@sinks/testing/services";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { z } from "zod";
import type { postgresOptions } from "../src/options.js";
import type { PostgresSinkExtras } from "../src/sink.js";
import { recordingTelemetry } from "./fake-execution.js";
import { createdNs, makeSink, message, rows, startSink, writeContext } from "./sink-fixture.js";

type Given = z.input<typeof postgresOptions>;

let server: PostgresServer;
let url: string;
beforeAll(async () => {
  server = await startPostgres();
  url = await server.createDatabase();
});
afterAll(() => server[Symbol.asyncDispose]());

const nothing = () => undefined;

/** Writes messages of these bodies through a sink that is made of the options alone; gives what came of it. */
async function written(schema: string, given: Given, bodies: readonly unknown[], extras: PostgresSinkExtras = {}) {
  await rows(url, `DROP SCHEMA public CASCADE; CREATE SCHEMA public; GRANT ALL ON SCHEMA public TO PUBLIC; ${schema}`);
  const { seen, telemetry } = recordingTelemetry();
  await using sink = await startSink({ url, ...given }, extras, telemetry);
  const messages = bodies.map((body, index) => message(index + 1, body));
  const outcomes = (await sink.writeBatch(messages, writeContext())) as readonly WriteOutcome[];
  return { outcomes, kinds: outcomes.map((outcome) => outcome?.name ?? "stored"), events: seen.events };
}

const log = "CREATE TABLE log (n int CHECK (n > 0), note text)";
const insert = [{ table: "log", data: { n: ":payload.n", note: ":payload.note?" } }];
const fieldOf = (events: Awaited<ReturnType<typeof written>>["events"], event: string, field: string) =>
  events.filter((each) => each.event === event).map(({ fields }) => fields[field]);

test.each([
  ["delivery", 1],
  ["run", 2],
] as const)("WO-PG-25 transaction: %s makes %d transaction(s) of two runs", async (transaction, count) => {
  const tables = ["one", "two"].map((name) => `CREATE TABLE ${name} (n int, tx xid8 DEFAULT pg_current_xact_id())`);
  const handler: PostgresSinkExtras["handler"] = ({ streamSequence }) => ({ table: streamSequence === 1n ? "one" : "two", data: { n: 1 } });
  const { kinds } = await written(tables.join("; "), { transaction }, [{}, {}], { handler });
  expect(kinds).toEqual(["stored", "stored"]);
  expect(await rows(url, "SELECT count(DISTINCT tx) FROM (SELECT tx FROM one UNION ALL SELECT tx FROM two) AS tables")).toEqual([
    [String(count)],
  ]);
});

test.each([
  ["continue", "stored"],
  ["stop", "NotAttemptedError"],
] as const)("WO-GEN-13 after_failure: %s means %s for what follows a message that can never be written", async (after_failure, last) => {
  const { kinds } = await written(log, { after_failure, write: insert }, [{ n: 1 }, { n: -1 }, { n: 2 }]);
  expect(kinds).toEqual(["stored", "PermanentSinkError", last]);
});

test.each([
  ["ignore", null, 0],
  ["warn", null, 1],
  ["fail", "zero_rows", 0],
] as const)("WO-PG-08 on_zero_rows: %s", async (on_zero_rows, code, warnings) => {
  const write = [{ op: "update", table: "log", data: { note: "x" }, where: { n: ":payload.n" } }];
  const { outcomes, events } = await written(log, { on_zero_rows, write }, [{ n: 1 }]);
  expect(outcomes[0]?.code ?? null).toBe(code);
  expect(fieldOf(events, "a write matched no row", "destination")).toHaveLength(warnings);
});

test.each([
  [1024, 3],
  [4096, 1],
])("WO-PG-21 max_chunk_bytes: %d makes %d statement(s) of three rows of 600 bytes", async (max_chunk_bytes, statements) => {
  const counting = `${log}; CREATE TABLE seen (n int);
    CREATE FUNCTION count_statement() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN INSERT INTO seen VALUES (1); RETURN NULL; END';
    CREATE TRIGGER t AFTER INSERT ON log FOR EACH STATEMENT EXECUTE FUNCTION count_statement()`;
  await written(
    counting,
    { max_chunk_bytes, write: insert },
    [1, 2, 3].map((n) => ({ n, note: "x".repeat(600) })),
  );
  expect(await rows(url, "SELECT (SELECT count(*) FROM log), (SELECT count(*) FROM seen)")).toEqual([["3", String(statements)]]);
});

test.each([
  ["reject", "ValidationError", []],
  ["strip", "stored", [["xy"]]],
] as const)("WO-VAL-04 nul: %s", async (nul, kind, stored) => {
  const body = '{"n":1,"note":"x\\u0000y"}';
  expect((await written(log, { nul, write: insert }, [body])).kinds).toEqual([kind]);
  expect(await rows(url, "SELECT note FROM log")).toEqual(stored);
  for (const payload_type of ["jsonb", "json"] as const) {
    expect((await written("", { nul, auto_create: true, payload_type }, [body])).kinds, payload_type).toEqual([kind]);
    expect(await rows(url, "SELECT payload ->> 'note' FROM sinks_messages")).toEqual(stored);
  }
});

test.each([
  ["reject", "ValidationError"],
  ["omit", "stored"],
] as const)("WO-VAL-01 undefined_data: %s", async (undefined_data, kind) => {
  const handler = () => ({ table: "log", data: { n: 1, note: undefined as unknown as null } });
  expect((await written(log, { undefined_data }, [{}], { handler })).kinds).toEqual([kind]);
});

test.each([
  [false, "ValidationError"],
  [true, "stored"],
])("WO-PG-15 allow_quoted_identifiers: %s", async (allow_quoted_identifiers, kind) => {
  const handler = () => ({ table: ["public", "my log"] as const, data: { "a name": 1 } });
  const { kinds } = await written('CREATE TABLE "my log" ("a name" int)', { allow_quoted_identifiers }, [{}], { handler });
  expect(kinds).toEqual([kind]);
});

test.each([false, true])("WO-OB-03 log_driver_messages: %s", async (log_driver_messages) => {
  const { events } = await written(log, { log_driver_messages, write: insert }, [{ n: -1 }]);
  expect(fieldOf(events, "messages of a batch were not stored", "driver_message")).toEqual([
    log_driver_messages ? expect.stringContaining("violates check constraint") : undefined,
  ]);
});

test.each([
  [true, "client", "1"],
  [false, "session", "0"],
])(
  "WO-PG-33 WO-PG-34 prepared_statements: %s takes limits from the %s and keeps %s plan(s)",
  async (prepared_statements, source, plans) => {
    const statements = {
      show: `INSERT INTO limits SELECT setting || ' ' || source, (SELECT count(*) FROM pg_prepared_statements WHERE statement LIKE 'INSERT%')
      FROM pg_settings WHERE name IN ('statement_timeout', 'lock_timeout')`,
    };
    const { kinds } = await written(
      "CREATE TABLE limits (limit_set text, plans int)",
      {
        prepared_statements,
        statement_timeout_ms: 4321,
        lock_timeout_ms: 1234,
        statements,
        write: [{ op: "statement", statement: "show" }],
      },
      [{}],
    );
    expect(kinds).toEqual(["stored"]);
    expect(await rows(url, "SELECT limit_set, plans FROM limits ORDER BY 1")).toEqual([
      [`1234 ${source}`, plans],
      [`4321 ${source}`, plans],
    ]);
  },
);

test("WO-RT-04 WO-RT-06 retry_safety: narrowed looks at the arguments, table does not, and with the ledger all is safe", () => {
  const answer = (write: Given["write"], more: object = {}) => makeSink({ url, write, ...more }).retrySafety([message(1)]);
  const upsert = [{ op: "upsert", table: "log", data: { n: ":payload.n" }, conflict: ["note"] }];
  expect([answer(upsert), answer(upsert, { retry_safety: "narrowed" }), answer(upsert, { retry_safety: "table" })]).toEqual([
    "unsafe",
    "unsafe",
    "safe",
  ]);
  expect([answer(insert), answer(insert, { ledger: { enabled: true } })]).toEqual(["unsafe", "safe"]);
});

test.each([
  [undefined, "EVENTS/sink/postgres"],
  ["bills", "bills"],
])("FW-LED-01 ledger.name %s: the records are those of %s, and are found again", async (name, pipeline) => {
  const given = { url, write: insert, ledger: { enabled: true, table: "records", ...(name && { name }) } };
  await written(log, given, [{ n: 1 }]);
  expect(await rows(url, "SELECT pipeline, key FROM records")).toEqual([[pipeline, message(1).idempotencyKey()]]);
  await using same = await startSink(given);
  await using other = await startSink({ ...given, ledger: { ...given.ledger, name: "another" } });
  const { signal } = writeContext();
  expect([await same.lookup?.([message(1)], signal), await other.lookup?.([message(1)], signal)]).toEqual([[true], [false]]);
  const found: bigint[] = [];
  const report = { stored: (sequence: number) => void found.push(BigInt(sequence)), damaged: nothing, absent: nothing, note: nothing };
  const keyPrefixes = [message(1).idempotencyKey().slice(0, -1)];
  const request = { stream: "EVENTS", pipeline: "EVENTS/sink/postgres", streamCreatedNs: [createdNs], keyPrefixes, from: 1, to: 9 };
  await same.inventory?.(request, report, signal);
  expect(found).toEqual([1n]);
});

const atTime = { sku: ":payload.sku", qty: ":payload.qty", at: ":timestamp" };
const guarded = `INSERT INTO stock (sku, qty, at) VALUES (:sku, :qty, :at)
  ON CONFLICT (sku) DO UPDATE SET qty = EXCLUDED.qty, at = EXCLUDED.at WHERE stock.at < EXCLUDED.at`;
const ways: readonly [string, Given][] = [
  ["newest_by", { write: [{ op: "upsert", table: "stock", data: atTime, conflict: ["sku"], newest_by: "at" }] }],
  [
    "a guarded statement",
    {
      statements: { set_stock: { sql: guarded, params: { sku: "text", qty: "int8", at: "timestamptz" }, idempotent: true } },
      write: [{ op: "statement", statement: "set_stock", params: atTime }],
    },
  ],
];

test.each(ways)("WO-RT-10 WO-PG-37 with %s a replay puts no older row over a newer one", async (_, given) => {
  const stock = "CREATE TABLE stock (sku text PRIMARY KEY, qty int8, at timestamptz NOT NULL)";
  await written(stock, given, [{ sku: "a", qty: 1 }]);
  await using sink = await startSink({ url, ...given });
  const first = message(1, { sku: "a", qty: 1 });
  const later = message(2, { sku: "a", qty: 2 }, { timestampNs: (first.timestampNs as bigint) + 1_000_000n });
  for (const batch of [[first, later], [first], [later, first]]) {
    expect(await sink.writeBatch(batch, writeContext())).toEqual(batch.map(() => null));
    expect(await rows(url, "SELECT qty FROM stock")).toEqual([["2"]]);
  }
  expect(sink.retrySafety([first])).toBe("safe");
});
