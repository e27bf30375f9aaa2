import { eventually, type PostgresServer, startPostgres } from "@sinks/testing/services";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { PostgresClient } from "../src/client.js";
import { LedgerRetention } from "../src/ledger/ledger-retention.js";
import { ensureLedgerTable, ledgerStatements } from "../src/ledger/ledger-table.js";
import { batchOf, executeReal, payloadWriter, sql } from "./execution-fixture.js";
import { recordingTelemetry } from "./fake-execution.js";
import { never, query, startClient, succeeded } from "./postgres-fixture.js";

let server: PostgresServer;
let url: string;
let client: PostgresClient & AsyncDisposable;
const ledger = { pipeline: "ORDERS/sink/postgres", table: '"sinks_ledger"' };
const write = payloadWriter({ add: "UPDATE counters SET n = n + 1 WHERE id = :id::int" });
const add = (id: number) => write({ op: "statement", statement: "add", params: { id } });
const insert = (n: number) => write({ op: "insert", table: "events", data: { n } });

beforeAll(async () => {
  server = await startPostgres();
  url = await server.createDatabase();
  client = await startClient({ url, connections: 4 });
});
afterAll(async () => {
  await client[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
});
beforeEach(async () => {
  await sql(
    client,
    "DROP TABLE IF EXISTS counters, events, sinks_ledger",
    "CREATE TABLE counters (id int PRIMARY KEY, n int NOT NULL CHECK (n < 1000))",
    "CREATE TABLE events (n int)",
    "INSERT INTO counters SELECT i, 0 FROM generate_series(0, 99) i",
    ...ledgerStatements("sinks_ledger"),
  );
});

const one = async (text: string) => Number((await sql(client, text))[0]?.[0]);

test("FW-LED-01 FW-LED-02 redelivery of a plain insert and of a statement that adds has one effect", async () => {
  const batch = batchOf([...Array.from({ length: 100 }, (_, id) => add(id)), ...Array.from({ length: 100 }, (_, n) => insert(n))]);
  for (let delivery = 0; delivery < 3; delivery += 1) {
    expect(new Set((await executeReal(client, batch, { ledger })).words)).toEqual(new Set(["applied"]));
  }
  expect(await one("SELECT sum(n) FROM counters")).toBe(100);
  expect(await one("SELECT count(*) FROM events")).toBe(100);
  expect(await one("SELECT count(*) FROM sinks_ledger WHERE pipeline = 'ORDERS/sink/postgres'")).toBe(200);
});

test("FW-LED-02 two runners that hold the same messages in other batches and orders: each has one effect", async () => {
  const messages = batchOf(Array.from({ length: 100 }, (_, id) => [...add(id), ...insert(id)]));
  const numbered = (some: typeof messages) => some.map((message, index) => ({ ...message, index }));
  const runner = async (order: typeof messages) => {
    for (let from = 0; from < order.length; from += 25) {
      const { words } = await executeReal(client, numbered(order.slice(from, from + 25)), { ledger });
      expect(new Set(words)).toEqual(new Set(["applied"]));
    }
  };
  const middle = [...messages.slice(40), ...messages.slice(0, 40)];
  await Promise.all([messages, messages.toReversed(), middle, middle.toReversed()].map(runner));
  expect(await one("SELECT sum(n) FROM counters")).toBe(100);
  expect(await one("SELECT max(n) FROM counters")).toBe(1);
  expect(await one("SELECT count(*) FROM events")).toBe(100);
});

test("FW-LED-02 under repeatable read a claim of another runner is met by a repeat", async () => {
  await sql(client, `ALTER DATABASE ${new URL(url).pathname.slice(1)} SET default_transaction_isolation = 'repeatable read'`);
  await using strict = await startClient({ url, connections: 4 });
  const batch = batchOf(Array.from({ length: 50 }, (_, n) => insert(n)));
  const runs = await Promise.all(Array.from({ length: 4 }, () => executeReal(strict, batch, { ledger })));
  await sql(client, `ALTER DATABASE ${new URL(url).pathname.slice(1)} RESET default_transaction_isolation`);
  for (const { words } of runs) expect(words.filter((word) => word !== "applied" && word !== "temporary")).toEqual([]);
  expect(runs.some(({ words }) => words.every((word) => word === "applied"))).toBe(true);
  expect(await one("SELECT count(*) FROM events")).toBe(50);
});

test("FW-LED-03 a bad message leaves no record, its neighbours have one, and the repaired one is applied later", async () => {
  await sql(client, "UPDATE counters SET n = 999 WHERE id = 7");
  const batch = batchOf(Array.from({ length: 50 }, (_, id) => add(id)));
  const { words } = await executeReal(client, batch, { ledger });
  expect(words).toEqual(Array.from({ length: 50 }, (_, id) => (id === 7 ? "permanent" : "applied")));
  expect(await one("SELECT count(*) FROM sinks_ledger")).toBe(49);
  await sql(client, "UPDATE counters SET n = 0 WHERE id = 7");
  expect(new Set((await executeReal(client, batch, { ledger })).words)).toEqual(new Set(["applied"]));
  expect(await one("SELECT count(*) FROM counters WHERE n = 1")).toBe(50);
});

test("FW-LED-01 another pipeline with the same table is another record", async () => {
  const batch = batchOf([insert(1)]);
  for (const pipeline of ["a", "b", "a", "b"]) await executeReal(client, batch, { ledger: { ...ledger, pipeline } });
  expect(await one("SELECT count(*) FROM events")).toBe(2);
});

test("FW-LED-07 the table is made once by runners that start together, and only where it may be", async () => {
  await sql(client, "DROP TABLE sinks_ledger");
  const refused = client.use(never, (session) => ensureLedgerTable(session, "sinks_ledger", false));
  await expect(refused).rejects.toMatchObject({
    name: "ConfigurationError",
    message: expect.stringContaining("CREATE TABLE IF NOT EXISTS"),
  });
  await Promise.all(Array.from({ length: 4 }, () => client.use(never, (session) => ensureLedgerTable(session, "sinks_ledger", true))));
  await client.use(never, (session) => ensureLedgerTable(session, "sinks_ledger", false));
  const columns = "SELECT column_name, data_type, is_nullable FROM information_schema.columns WHERE table_name = 'sinks_ledger' ORDER BY 1";
  expect(await sql(client, columns)).toEqual([
    ["applied_at", "timestamp with time zone", "NO"],
    ["key", "text", "NO"],
    ["pipeline", "text", "NO"],
  ]);
  const indexes = await sql(client, "SELECT indexname FROM pg_indexes WHERE tablename = 'sinks_ledger' ORDER BY 1");
  expect(indexes.flat()).toEqual(["sinks_ledger_applied_at", "sinks_ledger_pkey"]);
});

test("FW-LED-07 a table in a schema of its own, with the longest name, which may not be made", async () => {
  await sql(client, "CREATE SCHEMA IF NOT EXISTS hub");
  const name = "l".repeat(63);
  await client.use(never, (session) => ensureLedgerTable(session, `hub.${name}`, true));
  expect((await sql(client, "SELECT indexname FROM pg_indexes WHERE schemaname = 'hub' ORDER BY 1"))[0]?.[0]).toBe(
    `${"l".repeat(52)}_applied_at`,
  );
  const missing = client.use(never, (session) => ensureLedgerTable(session, "nowhere.t", true));
  await expect(missing).rejects.toMatchObject({ name: "DestinationUnavailableError", destinationCode: "3F000" });
  // The failed attempt left no transaction open.
  expect(await sql(client, "DROP SCHEMA hub CASCADE", "SELECT 1")).toEqual([["1"]]);
});

const limitMs = 30_000;

test("FW-LED-06 records over the retention go in bounded steps, those of other pipelines and younger ones stay", async () => {
  await sql(
    client,
    "INSERT INTO sinks_ledger SELECT 'ORDERS/sink/postgres', 'old-' || i, now() - interval '2 hours' FROM generate_series(1, 25000) i",
    "INSERT INTO sinks_ledger SELECT 'ORDERS/sink/postgres', 'young-' || i, now() FROM generate_series(1, 10) i",
    "INSERT INTO sinks_ledger SELECT 'another', 'old-' || i, now() - interval '2 hours' FROM generate_series(1, 10) i",
  );
  const { seen, telemetry } = recordingTelemetry();
  const pauses: number[] = [];
  const steps: (() => void)[] = [];
  const after = (milliseconds: number, run: () => void) => {
    if (milliseconds === limitMs) return () => undefined;
    pauses.push(milliseconds);
    steps.push(run);
    return () => undefined;
  };
  const retention = new LedgerRetention({ sessions: client, ledger, retentionSeconds: 3600, limitMs, telemetry, after });
  retention.start();
  const left: number[] = [];
  for (let step = 0; step < 3; step += 1) {
    steps[step]?.();
    await eventually(() => steps.length === step + 2, { deadlineMs: 10_000, what: "the end of a step" });
    left.push(await one("SELECT count(*) FROM sinks_ledger"));
  }
  await retention.stop();
  expect(left).toEqual([15_020, 5020, 20]);
  expect(pauses).toEqual([100, 100, 100, 60_000]);
  expect(seen.counts.get("ledger_records_removed_total")).toBe(25_000);
});

test("FW-LED-06 a removal that fails is told, and tried again at the next interval", async () => {
  const { seen, telemetry } = recordingTelemetry();
  const steps: (() => void)[] = [];
  const after = (milliseconds: number, run: () => void) => {
    if (milliseconds === limitMs) return () => undefined;
    steps.push(run);
    return () => undefined;
  };
  const retention = new LedgerRetention({
    sessions: client,
    ledger: { ...ledger, table: '"nowhere"' },
    retentionSeconds: 3600,
    limitMs,
    telemetry,
    after,
  });
  retention.start();
  steps[0]?.();
  await eventually(() => steps.length === 2, { deadlineMs: 10_000, what: "the plan for the next try" });
  await retention.stop();
  expect(seen.events).toEqual([{ event: "old records of the ledger could not be removed", fields: { code: "42P01" } }]);
});

test("FW-LED-06 a removal that is held up gives its connection back in time, behind a pooler too", async () => {
  await sql(client, "INSERT INTO sinks_ledger VALUES ('ORDERS/sink/postgres', 'held', now() - interval '2 hours')");
  await using pooled = await startClient({ url, connections: 1, prepared_statements: false });
  const { seen, telemetry } = recordingTelemetry();
  const steps: (() => void)[] = [];
  const limits: (() => void)[] = [];
  const after = (milliseconds: number, run: () => void) => {
    (milliseconds === limitMs ? limits : steps).push(run);
    return () => undefined;
  };
  const retention = new LedgerRetention({ sessions: pooled, ledger, retentionSeconds: 3600, limitMs, telemetry, after });
  const waiting = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE 'DELETE FROM %sinks_ledger%'";
  await client.use(never, async (session) => {
    succeeded(await session.pipeline([query("BEGIN"), query("LOCK TABLE sinks_ledger IN ACCESS EXCLUSIVE MODE")]));
    retention.start();
    steps[0]?.();
    await eventually(async () => (await one(waiting)) === 1, { deadlineMs: 10_000, what: "a removal that waits for the lock" });
    limits[0]?.();
    await eventually(() => steps.length === 2, { deadlineMs: 10_000, what: "the plan for the next try" });
    expect(await pooled.use(never, async (other) => succeeded(await other.pipeline([query("SELECT 1")]))[0]?.rows)).toEqual([["1"]]);
    await session.pipeline([query("ROLLBACK")]);
  });
  await retention.stop();
  expect(seen.events).toEqual([{ event: "old records of the ledger could not be removed", fields: { code: "deadline" } }]);
});
