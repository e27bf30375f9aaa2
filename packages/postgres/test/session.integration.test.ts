import { startProxy } from "@sinks/testing/faults";
import { eventually, type PostgresServer, startPostgres } from "@sinks/testing/services";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { PostgresClient } from "../src/client.js";
import { verdictOf } from "../src/errors.js";
import { never, query, startClient, succeeded } from "./postgres-fixture.js";

let server: PostgresServer;
let url: string;

beforeAll(async () => {
  server = await startPostgres({ ownServer: true });
  url = await server.createDatabase();
});
afterAll(() => server[Symbol.asyncDispose]());
beforeEach(async () => {
  await using client = await startClient({ url, connections: 1 });
  await run(client, "DROP TABLE IF EXISTS t", "CREATE TABLE t (id int PRIMARY KEY, a text)");
});

async function run(client: PostgresClient, ...texts: string[]) {
  return client.use(never, async (session) => succeeded(await session.pipeline(texts.map((text) => query(text)))));
}

const rows = async (client: PostgresClient, text: string) => (await run(client, text))[0]?.rows;

test("results carry command, count and rows as text", async () => {
  await using client = await startClient({ url });
  const results = await run(
    client,
    "INSERT INTO t VALUES (1, 'x'), (2, NULL)",
    "UPDATE t SET a = 'y' WHERE id = 1",
    "SELECT id, a FROM t ORDER BY id",
    "",
    "CREATE TABLE other ()",
    "DROP TABLE other",
  );
  expect(results.map(({ command, count, rows: some }) => [command, count, some])).toEqual([
    ["INSERT", 2, []],
    ["UPDATE", 1, []],
    [
      "SELECT",
      2,
      [
        ["1", "y"],
        ["2", null],
      ],
    ],
    ["", null, []],
    ["CREATE TABLE", null, []],
    ["DROP TABLE", null, []],
  ]);
});

test("WO-PG-32 also a text without parameters is parsed as one command, which the simple protocol does not ask for", async () => {
  await using client = await startClient({ url, connections: 1 });
  for (const prepare of [true, false]) {
    const { failure } = await client.use(never, (session) => session.pipeline([{ text: "SELECT 1; SELECT 2", values: [], prepare }]));
    expect([failure?.kind, failure?.code]).toEqual(["server", "42601"]);
  }
});

test("WO-PG-24 a thousand updates go as one pipeline, parsed once", async () => {
  await using client = await startClient({ url, connections: 1 });
  await run(client, "INSERT INTO t SELECT i, '' FROM generate_series(0, 999) i");
  const updates = Array.from({ length: 1000 }, (_, index) => query("UPDATE t SET a = $1 WHERE id = $2", `v${index}`, String(index)));
  await client.use(never, async (session) => {
    const done = succeeded(await session.pipeline([query("BEGIN"), ...updates, query("COMMIT")]));
    expect(done).toHaveLength(1002);
    expect(done.slice(1, -1).every(({ command, count }) => command === "UPDATE" && count === 1)).toBe(true);
  });
  expect(await rows(client, "SELECT count(*) FROM t WHERE a = 'v' || id")).toEqual([["1000"]]);
  const plans = "SELECT count(*), sum(generic_plans + custom_plans) FROM pg_prepared_statements WHERE statement LIKE 'UPDATE%'";
  expect(await rows(client, plans)).toEqual([["1", "1000"]]);
});

test("WO-PG-24 the failing query of a pipeline is known by its index, and the connection lives on", async () => {
  await using client = await startClient({ url, connections: 1 });
  await client.use(never, async (session) => {
    const inserts = Array.from({ length: 1000 }, (_, index) =>
      query("INSERT INTO t VALUES ($1, $2)", index === 617 ? "x" : String(index), "a"),
    );
    const { done, failure } = await session.pipeline([query("BEGIN"), ...inserts, query("COMMIT")]);
    expect(done).toHaveLength(1 + 617);
    expect(failure).toMatchObject({ kind: "server", code: "22P02", sent: 1002 });
    expect(succeeded(await session.pipeline([query("ROLLBACK")]))[0]?.command).toBe("ROLLBACK");
    expect(succeeded(await session.pipeline([query("SELECT count(*) FROM t")]))[0]?.rows).toEqual([["0"]]);
  });
});

test("WO-PG-26 the tag of COMMIT tells of a transaction that had failed", async () => {
  await using client = await startClient({ url, connections: 1 });
  await client.use(never, async (session) => {
    await session.pipeline([query("BEGIN"), query("SELECT 1/0")]);
    expect(succeeded(await session.pipeline([query("COMMIT")]))).toMatchObject([{ command: "ROLLBACK" }]);
  });
});

test("WO-PG-33 plans are kept up to the limit, and after a failure it is known which texts were parsed", async () => {
  await using client = await startClient({ url, connections: 1, max_prepared: 3 });
  const text = (index: number) => query(`SELECT ${index}::int`);
  const kept = "SELECT statement FROM pg_prepared_statements WHERE statement LIKE 'SELECT %::int' ORDER BY statement";
  await client.use(never, async (session) => {
    const plans = async () => succeeded(await session.pipeline([{ text: kept, values: [], prepare: false }]))[0]?.rows.flat();
    succeeded(await session.pipeline([1, 2, 3, 1, 4].map(text)));
    expect(await plans()).toEqual(["SELECT 1::int", "SELECT 3::int", "SELECT 4::int"]);
    // 5 pushes out 3; the failure then hides 6, and with it the end of 1.
    const failed = await session.pipeline([text(5), query("SELECT 1/0"), text(6), text(7), text(8)]);
    expect(failed).toMatchObject({ done: [{ rows: [["5"]] }], failure: { code: "22012" } });
    for (const index of [1, 2, 3, 4, 5, 6, 7, 8]) succeeded(await session.pipeline([text(index)]));
    expect(await plans()).toEqual(["SELECT 6::int", "SELECT 7::int", "SELECT 8::int"]);
  });
});

test("WO-PG-33 a plan that is gone, or whose result changed, fails once and is made anew", async () => {
  await using client = await startClient({ url, connections: 1 });
  const select = query("SELECT * FROM t");
  await client.use(never, async (session) => {
    succeeded(await session.pipeline([select]));
    succeeded(await session.pipeline([query("DEALLOCATE ALL")]));
    const gone = await session.pipeline([select]);
    expect(gone.failure).toMatchObject({ kind: "server", code: "26000" });
    expect(gone.failure !== null && verdictOf(gone.failure)).toBe("stale_plan");
    succeeded(await session.pipeline([select]));
    succeeded(await session.pipeline([query("ALTER TABLE t ADD COLUMN b int")]));
    const changed = await session.pipeline([select]);
    expect(changed.failure).toMatchObject({ kind: "server", code: "0A000" });
    expect(changed.failure !== null && verdictOf(changed.failure)).toBe("stale_plan");
    succeeded(await session.pipeline([select]));
  });
});

test("WO-PG-34 with prepared_statements false nothing stays on the connection", async () => {
  await using client = await startClient({ url, connections: 1, prepared_statements: false, statement_timeout_ms: 1234 });
  await run(client, "SELECT 1", "SELECT 2", "SELECT 1");
  expect(await rows(client, "SELECT count(*) FROM pg_prepared_statements")).toEqual([["0"]]);
  expect(await rows(client, "SHOW statement_timeout")).toEqual([["0"]]);
  await using owner = await startClient({ url, connections: 1, statement_timeout_ms: 1234, lock_timeout_ms: 567 });
  expect(await rows(owner, "SHOW statement_timeout")).toEqual([["1234ms"]]);
  expect(await rows(owner, "SHOW lock_timeout")).toEqual([["567ms"]]);
  expect(await rows(owner, "SHOW application_name")).toEqual([["sinks"]]);
});

test("WO-PG-21 a statement takes 65535 parameters, and many megabytes go through in bounded memory", async () => {
  await using client = await startClient({ url, connections: 1 });
  const places = Array.from({ length: 65_535 }, (_, index) => `$${index + 1}::int`);
  const sum = {
    text: `SELECT ${places.slice(0, 1).join()} + cardinality(ARRAY[${places.slice(1).join()}])`,
    values: places.map(() => "1"),
    prepare: false,
  };
  await client.use(never, async (session) => {
    expect(succeeded(await session.pipeline([sum]))[0]?.rows).toEqual([["65535"]]);
    const big = "x".repeat(1_000_000);
    const echo = Array.from({ length: 40 }, () => query("SELECT length($1::text), $1::text", big));
    const done = succeeded(await session.pipeline(echo));
    expect(done.every(({ rows: some }) => some[0]?.[0] === "1000000" && some[0]?.[1]?.length === 1_000_000)).toBe(true);
    const failing = [...echo.slice(0, 3), query("SELECT 1/0"), ...echo, ...echo, ...echo, ...echo];
    const { done: before, failure } = await session.pipeline(failing);
    expect(before).toHaveLength(3);
    // The rest was not even sent.
    expect(failure?.sent).toBeLessThan(failing.length);
  });
  expect(await rows(client, "SELECT 1")).toEqual([["1"]]);
});

test("a server that ends the connection in mid-pipeline: what was done is told, the rest is lost, the next batch has a new connection", async () => {
  await using client = await startClient({ url, connections: 1 });
  await using other = await startClient({ url, connections: 1 });
  await client.use(never, async (session) => {
    const [pid] = succeeded(await session.pipeline([query("SELECT pg_backend_pid()")]))[0]?.rows[0] ?? [];
    const pending = session.pipeline([query("BEGIN"), query("INSERT INTO t VALUES (1)"), query("SELECT pg_sleep(30)"), query("COMMIT")]);
    await sleeping(other);
    await run(other, `SELECT pg_terminate_backend(${pid})`);
    const { done, failure } = await pending;
    expect(done.map(({ command }) => command)).toEqual(["BEGIN", "INSERT"]);
    expect(failure).toMatchObject({ kind: "lost", code: "57P01", sent: 4 });
    expect((await session.pipeline([query("SELECT 1")])).failure).toMatchObject({ kind: "lost", sent: 0 });
  });
  expect(await rows(client, "SELECT count(*) FROM t")).toEqual([["0"]]);
});

async function sleeping(client: PostgresClient, count = "1"): Promise<void> {
  await eventually(
    async () => (await rows(client, "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep'"))?.[0]?.[0] === count,
    { deadlineMs: 5_000, what: "a query that sleeps" },
  );
}

test("WO-PG-34 a deadline cancels the query on the server and destroys the connection", async () => {
  await using client = await startClient({ url, connections: 1 });
  await using other = await startClient({ url, connections: 1 });
  const deadline = new AbortController();
  await client.use(deadline.signal, async (session) => {
    const pending = session.pipeline([query("INSERT INTO t VALUES (1)"), query("SELECT pg_sleep(30)")]);
    await sleeping(other);
    deadline.abort(new Error("deadline"));
    expect((await pending).failure).toMatchObject({ kind: "lost", code: null, sent: 2 });
  });
  await sleeping(other, "0");
  expect(await rows(client, "SELECT count(*) FROM t")).toEqual([["0"]]);
});

test("statement and lock timeouts are definite failures", async () => {
  await using client = await startClient({ url, connections: 2, lock_timeout_ms: 100, statement_timeout_ms: 300 });
  await run(client, "INSERT INTO t VALUES (1)");
  await client.use(never, async (holder) => {
    succeeded(await holder.pipeline([query("BEGIN"), query("UPDATE t SET a = 'x' WHERE id = 1")]));
    await client.use(never, async (session) => {
      expect((await session.pipeline([query("UPDATE t SET a = 'y' WHERE id = 1")])).failure).toMatchObject({
        kind: "server",
        code: "55P03",
      });
      expect((await session.pipeline([query("SELECT pg_sleep(10)")])).failure).toMatchObject({ kind: "server", code: "57014" });
    });
  });
  // The transaction that was left open did not go back into the set.
  expect(await rows(client, "SELECT a FROM t")).toEqual([[null]]);
  expect(await rows(client, "SELECT pg_current_xact_id_if_assigned() IS NULL")).toEqual([["t"]]);
});

test("a COPY in a statement is refused and does not hang", async () => {
  await using client = await startClient({ url, connections: 1 });
  const { failure } = await client.use(never, (session) => session.pipeline([query("COPY t FROM STDIN"), query("SELECT 1")]));
  expect(failure).toMatchObject({ kind: "server", code: "0A000" });
  expect(await rows(client, "SELECT 1")).toEqual([["1"]]);
});

test("WO-ERR-02 a connection that is cut in mid-pipeline is lost, and one that was dead before it is not sent to", async () => {
  await using proxy = await startProxy({ port: server.port });
  await using client = await startClient({ url: url.replace(String(server.port), String(proxy.port)), connections: 1 });
  await client.use(never, async (session) => {
    proxy.dropReplies();
    const pending = session.pipeline([query("INSERT INTO t VALUES (7)")]);
    const sent = proxy.bytes.toServer;
    await eventually(() => proxy.bytes.toServer > sent, { deadlineMs: 5_000, what: "the insert to go out" });
    proxy.cut();
    expect((await pending).failure).toMatchObject({ kind: "lost", sent: 1 });
    expect((await session.pipeline([query("SELECT 1")])).failure).toMatchObject({ kind: "lost", sent: 0 });
  });
  await proxy.pass();
  await eventually(async () => (await rows(client, "SELECT count(*) FROM t WHERE id = 7"))?.[0]?.[0] === "1", {
    deadlineMs: 5_000,
    what: "the insert, which was unknown, to show",
  });
});

test("WO-ERR-02 a COMMIT behind more than the network takes was certainly not sent", async () => {
  await using proxy = await startProxy({ port: server.port });
  await using client = await startClient({ url: url.replace(String(server.port), String(proxy.port)), connections: 1 });
  const inserts = Array.from({ length: 60 }, (_, index) => query("INSERT INTO t VALUES ($1, $2)", String(index), "x".repeat(1_000_000)));
  const pipeline = [query("BEGIN"), ...inserts, query("COMMIT")];
  await client.use(never, async (session) => {
    proxy.hold("toServer");
    const pending = session.pipeline(pipeline);
    await eventually(() => proxy.connections === 1, { deadlineMs: 5_000, what: "the connection" });
    proxy.cut();
    const { done, failure } = await pending;
    expect(done).toEqual([]);
    expect(failure).toMatchObject({ kind: "lost" });
    expect(failure?.sent).toBeGreaterThan(0);
    expect(failure?.sent).toBeLessThan(pipeline.length);
  });
});

test("a stopped server: waiting batches are told at once, and its return is noticed", async () => {
  await using own = await startPostgres({ ownServer: true });
  await using client = await startClient({ url: own.url, connections: 2 });
  await own.stop();
  const refusal = () =>
    client
      .use(never, async () => undefined)
      .then(
        () => null,
        (error: unknown) => error,
      );
  expect(await eventually(refusal, { deadlineMs: 5_000, what: "the refusal" })).toMatchObject({
    name: "DestinationUnavailableError",
    destinationCode: "ECONNREFUSED",
  });
  await own.restart();
  expect(await rows(client, "SELECT 1")).toEqual([["1"]]);
  await own.restart({ settings: { default_transaction_read_only: "on" } });
  await expect(rows(client, "SELECT 1")).rejects.toMatchObject({ name: "DestinationUnavailableError", destinationCode: "25006" });
});

test("WO-PG-33 plans that are forgotten while a pipeline waits for room are dropped by the next one, not under its hands", async () => {
  await using client = await startClient({ url, connections: 1 });
  await client.use(never, async (session) => {
    const large = () => query("SELECT length($1::text)", "x".repeat(400_000));
    const written = session.pipeline([large(), large(), large()]);
    client.forgetPlans();
    expect(succeeded(await written).map(({ rows }) => rows)).toEqual(Array.from({ length: 3 }, () => [["400000"]]));
    const names = async () =>
      succeeded(await session.pipeline([query("SELECT name, statement FROM pg_prepared_statements")]))[0]?.rows ?? [];
    // What was prepared before is gone; the question itself was prepared since.
    expect((await names()).map(([, statement]) => statement)).toEqual(["SELECT name, statement FROM pg_prepared_statements"]);
    expect(succeeded(await session.pipeline([large()]))[0]?.rows).toEqual([["400000"]]);
  });
});
