import path from "node:path";
import { type Proxy as FaultProxy, startProxy, startVictim } from "@sinks/testing/faults";
import { eventually, makeTemporaryFolder, type PostgresServer, startPostgres } from "@sinks/testing/services";
import { build } from "tsup";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { PostgresClient } from "../src/client.js";
import { ledgerStatements } from "../src/ledger/ledger-table.js";
import { batchOf, executeReal, payloadWriter, sql } from "./execution-fixture.js";
import type { LedgerRunnerArguments } from "./ledger-runner.js";
import { startClient } from "./postgres-fixture.js";

let server: PostgresServer;
let url: string;
let client: PostgresClient & AsyncDisposable;
let proxy: FaultProxy;
const ledger = { pipeline: "ORDERS/sink/postgres", table: '"sinks_ledger"' };
const write = payloadWriter({ add: "UPDATE counters SET n = n + 1 WHERE id = :id::int", nap: "SELECT pg_sleep(30)" });
const add = (id: number) => write({ op: "statement", statement: "add", params: { id } });
const nap = write({ op: "statement", statement: "nap" });
const insert = (n: number) => write({ op: "insert", table: "events", data: { n } });

beforeAll(async () => {
  server = await startPostgres();
  url = await server.createDatabase();
  client = await startClient({ url });
  proxy = await startProxy({ port: Number(new URL(url).port) });
});
afterAll(async () => {
  await proxy[Symbol.asyncDispose]();
  await client[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
});
beforeEach(async () => {
  await proxy.pass();
  await sql(
    client,
    "DROP TABLE IF EXISTS counters, events, sinks_ledger",
    "CREATE TABLE counters (id int PRIMARY KEY, n int NOT NULL)",
    "CREATE TABLE events (n int)",
    "INSERT INTO counters SELECT i, 0 FROM generate_series(0, 99) i",
    ...ledgerStatements("sinks_ledger"),
  );
});

const one = async (text: string) => Number((await sql(client, text))[0]?.[0]);
/** A client whose bytes go through the proxy. */
function throughProxy(): Promise<PostgresClient & AsyncDisposable> {
  const address = new URL(url);
  address.port = String(proxy.port);
  return startClient({ url: address.href, connections: 1, application_name: "proxied" });
}

/** Resolves with the process id of the backend that runs a matching query. */
function backendOf(query: string): Promise<string> {
  const text = `SELECT pid FROM pg_stat_activity WHERE state = 'active' AND query LIKE '${query}' AND pid <> pg_backend_pid()`;
  return eventually(async () => (await sql(client, text))[0]?.[0], { deadlineMs: 10_000, what: `a backend with ${query}` });
}

test("WO-PG-28 a backend terminated in mid-transaction: nothing is applied, all is unavailable, the next write goes on", async () => {
  await using other = await startClient({ url, connections: 1 });
  const running = executeReal(other, batchOf([add(1), nap, insert(1)]));
  await sql(client, `SELECT pg_terminate_backend(${await backendOf("SELECT pg_sleep%")})`);
  const { words, outcomes } = await running;
  expect(words).toEqual(["unavailable", "unavailable", "unavailable"]);
  expect(outcomes[0]?.destinationCode).toBe("57P01");
  expect(await one("SELECT n FROM counters WHERE id = 1")).toBe(0);
  expect((await executeReal(other, batchOf([add(1), insert(1)]))).words).toEqual(["applied", "applied"]);
});

test("WO-PG-28 a backend terminated under a statement without BEGIN: unknown", async () => {
  await using other = await startClient({ url, connections: 1 });
  const running = executeReal(other, batchOf([nap]));
  await sql(client, `SELECT pg_terminate_backend(${await backendOf("SELECT pg_sleep%")})`);
  expect((await running).words).toEqual(["unknown"]);
});

test("WO-PG-28 WO-PG-34 an aborted write in a transaction is cancelled and not applied", async () => {
  await using other = await startClient({ url, connections: 1 });
  const abort = new AbortController();
  const running = executeReal(other, batchOf([add(1), nap]), {}, { signal: abort.signal });
  await backendOf("SELECT pg_sleep%");
  abort.abort();
  expect((await running).words).toEqual(["unavailable", "unavailable"]);
  const gone = async () =>
    (await one("SELECT count(*) FROM pg_stat_activity WHERE query LIKE 'SELECT pg_sleep%' AND state = 'active'")) === 0;
  await eventually(gone, { deadlineMs: 10_000, what: "the end of the statement on the server" });
  expect(await one("SELECT n FROM counters WHERE id = 1")).toBe(0);
});

/** Makes every COMMIT that inserted an event sleep a moment, so that a test can act in between. */
const slowCommit = [
  "CREATE OR REPLACE FUNCTION nap() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_sleep(0.5); RETURN NULL; END'",
  "CREATE CONSTRAINT TRIGGER slow AFTER INSERT ON events DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION nap()",
];

test("WO-PG-26 FW-LED-01 a lost reply of COMMIT is unknown, and with a ledger its repetition has no second effect", async () => {
  await sql(client, ...slowCommit);
  await using proxied = await throughProxy();
  const batch = batchOf([add(1), insert(1), add(1)]);
  const running = executeReal(proxied, batch, { ledger });
  await backendOf("COMMIT");
  proxy.dropReplies();
  await eventually(async () => (await one("SELECT count(*) FROM events")) === 1, { deadlineMs: 10_000, what: "the commit" });
  proxy.cut();
  const { words, outcomes } = await running;
  expect(words).toEqual(["unknown", "unknown", "unknown"]);
  expect(outcomes[0]?.name).toBe("UnknownOutcomeError");
  await proxy.pass();
  expect((await executeReal(proxied, batch, { ledger })).words).toEqual(["applied", "applied", "applied"]);
  expect(await one("SELECT count(*) FROM events")).toBe(1);
  expect(await one("SELECT n FROM counters WHERE id = 1")).toBe(2);
});

test("WO-PG-28 a connection cut before COMMIT: unavailable, and nothing is there", async () => {
  await using proxied = await throughProxy();
  const running = executeReal(proxied, batchOf([add(1), nap, insert(1)]));
  const backend = await backendOf("SELECT pg_sleep%");
  proxy.cut();
  expect((await running).words).toEqual(["unavailable", "unavailable", "unavailable"]);
  await sql(client, `SELECT pg_terminate_backend(${backend})`);
  expect(await one("SELECT n FROM counters WHERE id = 1")).toBe(0);
});

test("FW-LED-01 FW-LED-02 SIGKILL between commit and ack: the next runner repeats everything, each message has one effect", async () => {
  await using folder = await makeTemporaryFolder("sinks-ledger-");
  await build({
    entry: [path.join(import.meta.dirname, "ledger-runner.ts")],
    outDir: folder.path,
    format: "esm",
    target: "node20.19",
    platform: "node",
    noExternal: [/.*/],
    banner: { js: 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);' },
    outExtension: () => ({ js: ".mjs" }),
    config: false,
    silent: true,
  });
  const given: LedgerRunnerArguments = [url, ledger.pipeline];
  for (let round = 1; round <= 5; round += 1) {
    await using runner = await startVictim({
      command: process.execPath,
      args: [path.join(folder.path, "ledger-runner.mjs"), ...given],
    });
    // It never acknowledges: every round begins with the first message again. It is killed a few commits further on.
    const reached = async () => (await one("SELECT count(*) FROM events")) >= round * 300;
    await runner.killWhen(reached, { deadlineMs: 30_000, what: `event ${round * 300}` });
  }
  const distinct = await one("SELECT count(DISTINCT n) FROM events");
  expect(await one("SELECT count(*) FROM events")).toBe(distinct);
  expect(await one("SELECT sum(n) FROM counters")).toBe(distinct);
  expect(await one("SELECT count(*) FROM sinks_ledger")).toBe(distinct);
});
