import { eventually, type PostgresServer, startPostgres } from "@sinks/testing/services";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { PostgresClient } from "../src/client.js";
import { batchOf, executeReal, payloadWriter, sql, watched } from "./execution-fixture.js";
import { never, query, startClient, succeeded } from "./postgres-fixture.js";

let server: PostgresServer;
let url: string;
let client: PostgresClient & AsyncDisposable;

beforeAll(async () => {
  server = await startPostgres({ settings: { deadlock_timeout: "100ms" } });
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
    "DROP TABLE IF EXISTS counters",
    "CREATE TABLE counters (id int PRIMARY KEY, n int NOT NULL)",
    "INSERT INTO counters SELECT i, 0 FROM generate_series(0, 99) i",
  );
});

const counters = async () => (await sql(client, "SELECT n FROM counters ORDER BY id")).map(([n]) => Number(n));
const statements = { add: "UPDATE counters SET n = n + 1 WHERE id = :id::int", meet: "SELECT pg_advisory_xact_lock_shared(1)" };
const write = payloadWriter(statements);
const add = (id: number) => write({ op: "statement", statement: "add", params: { id } });

const waitingAtGate = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted";

/** Holds a lock until the returned function is called. */
async function holding(text: string): Promise<() => Promise<void>> {
  const holder = await startClient({ url, connections: 1 });
  let release: () => void = () => undefined;
  let locked: () => void = () => undefined;
  const isLocked = new Promise<void>((resolve) => {
    locked = resolve;
  });
  const done = holder.use(never, async (session) => {
    succeeded(await session.pipeline([query("BEGIN"), query(text)]));
    locked();
    await new Promise<void>((resolve) => {
      release = resolve;
    });
    succeeded(await session.pipeline([query("ROLLBACK")]));
  });
  await isLocked;
  return async () => {
    release();
    await done;
    await holder.stop();
  };
}

test("WO-PG-29 two runners that deadlock: the loser repeats its batch, every write has its effect once", async () => {
  // Both take their first row, meet at a lock that is let go when both wait for it, then want each other's row.
  const release = await holding("SELECT pg_advisory_xact_lock(1)");
  const meet = write({ op: "statement", statement: "meet" });
  const batches = [batchOf([add(1), meet, add(2)]), batchOf([add(2), meet, add(1)])];
  const running = Promise.all(batches.map((batch) => executeReal(client, batch)));
  await eventually(async () => (await sql(client, waitingAtGate))[0]?.[0] === "2", {
    deadlineMs: 10_000,
    what: "both runners at the lock",
  });
  const before = await sql(client, "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()");
  await release();
  for (const { words } of await running) expect(words).toEqual(["applied", "applied", "applied"]);
  expect((await counters()).slice(1, 3)).toEqual([2, 2]);
  const met = async () => {
    const now = await sql(
      client,
      "SELECT pg_stat_clear_snapshot()",
      "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()",
    );
    return Number(now[0]?.[0]) > Number(before[0]?.[0]);
  };
  await eventually(met, { deadlineMs: 10_000, what: "the deadlock in the server's statistics" });
});

test("WO-PG-22 two runners that upsert the same keys in opposite order meet no deadlock", async () => {
  const upsert = (id: number, n: number) => write({ op: "upsert", table: "counters", data: { id, n }, conflict: ["id"] });
  const rising = Array.from({ length: 100 }, (_, id) => id);
  const round = async (order: readonly number[], n: number) => {
    const { words, seen } = await executeReal(client, batchOf(order.map((id) => upsert(id, n))));
    expect(new Set(words)).toEqual(new Set(["applied"]));
    expect(seen.counts.size).toBe(0);
  };
  for (let n = 1; n <= 20; n += 1) await Promise.all([round(rising, n), round(rising.toReversed(), n)]);
  expect(new Set(await counters())).toEqual(new Set([20]));
});

test("WO-PG-29 serialization failures: the same work is repeated, and every write has its effect once", async () => {
  await sql(client, `ALTER DATABASE ${new URL(url).pathname.slice(1)} SET default_transaction_isolation = 'repeatable read'`);
  await using strict = await startClient({ url, connections: 4 });
  await sql(client, `ALTER DATABASE ${new URL(url).pathname.slice(1)} RESET default_transaction_isolation`);
  // Each takes its snapshot, waits at the gate, and then finds that another one has changed the row since.
  const release = await holding("SELECT pg_advisory_xact_lock(1)");
  const meet = write({ op: "statement", statement: "meet" });
  const sessions = watched(strict);
  const running = Promise.all([1, 2, 3].map((id) => executeReal(sessions, batchOf([meet, add(id), add(id + 10)]))));
  await eventually(async () => (await sql(client, waitingAtGate))[0]?.[0] === "3", { deadlineMs: 10_000, what: "all at the gate" });
  expect((await executeReal(sessions, batchOf([add(1), add(2), add(3)]))).words).toEqual(["applied", "applied", "applied"]);
  await release();
  for (const { words } of await running) expect(words).toEqual(["applied", "applied", "applied"]);
  expect(sessions.codes).toEqual(["40001", "40001", "40001"]);
  expect((await counters()).slice(0, 15)).toEqual([0, 2, 2, 2, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 0]);
});

test("WO-PG-29 a lock on the whole table is an outage: no message is blamed, and the write is there once the lock is gone", async () => {
  await using hasty = await startClient({ url, connections: 1, lock_timeout_ms: 100 });
  const settings = { limits: { statementMs: 30_000, lockMs: 100 } };
  const release = await holding("LOCK TABLE counters");
  const batch = batchOf(Array.from({ length: 50 }, (_, id) => add(id)));
  const sessions = watched(hasty);
  const { words, outcomes } = await executeReal(sessions, batch, settings);
  expect(new Set(words)).toEqual(new Set(["unavailable"]));
  expect(outcomes[0]).toMatchObject({ destinationCode: "55P03" });
  expect(sessions.texts.filter((text) => text === "SET CONSTRAINTS ALL DEFERRED").length).toBeLessThanOrEqual(14);
  await release();
  expect(new Set((await executeReal(hasty, batch, settings)).words)).toEqual(new Set(["applied"]));
  expect((await counters()).slice(0, 50)).toEqual(new Array(50).fill(1));
});

test("WO-PG-29 a lock on one row makes the message that wants it temporary, and its neighbours commit", async () => {
  await using hasty = await startClient({ url, connections: 1, lock_timeout_ms: 100 });
  const release = await holding("SELECT 1 FROM counters WHERE id = 7 FOR UPDATE");
  const { words, outcomes } = await executeReal(hasty, batchOf(Array.from({ length: 50 }, (_, id) => add(id))), {
    limits: { statementMs: 30_000, lockMs: 100 },
  });
  await release();
  expect(words).toEqual(Array.from({ length: 50 }, (_, id) => (id === 7 ? "temporary" : "applied")));
  expect(outcomes[7]).toMatchObject({ name: "TemporarySinkError", destinationCode: "55P03" });
  expect(await counters()).toEqual(Array.from({ length: 100 }, (_, id) => (id < 50 && id !== 7 ? 1 : 0)));
});

test("WO-PG-29 a statement that runs into its limit is temporary alone, and stays so", async () => {
  await using hasty = await startClient({ url, connections: 1, statement_timeout_ms: 200 });
  const slow = payloadWriter({ nap: "SELECT pg_sleep(30)", ...statements });
  const nap = slow({ op: "statement", statement: "nap" });
  const one = (id: number) => slow({ op: "statement", statement: "add", params: { id } });
  const { words, outcomes } = await executeReal(hasty, batchOf([one(1), one(2), nap, one(3)]), {
    limits: { statementMs: 200, lockMs: 200 },
  });
  expect(words).toEqual(["applied", "applied", "temporary", "applied"]);
  expect(outcomes[2]).toMatchObject({ destinationCode: "57014" });
  expect((await counters()).slice(0, 5)).toEqual([0, 1, 1, 1, 0]);
});
