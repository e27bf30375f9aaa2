import { eventually, type NatsServer, type PostgresServer, startNats, startPostgres } from "@sinks/testing/services";
import { afterAll, beforeAll, expect, test } from "vitest";
import { logged } from "./support/pipeline-case.js";
import { postgresCase } from "./support/postgres-case.js";

let nats: NatsServer;
let postgres: PostgresServer;
beforeAll(async () => {
  nats = await startNats();
  postgres = await startPostgres({ settings: { max_prepared_transactions: "5", deadlock_timeout: "50ms" } });
});
afterAll(async () => {
  await nats[Symbol.asyncDispose]();
  await postgres[Symbol.asyncDispose]();
});

test("WO-PG-29 a row that stays locked holds up the messages for that row alone, and no dead letter comes of it", async () => {
  await using scene = await postgresCase(nats, postgres);
  const { job, sql } = scene;
  await sql("CREATE TABLE latest (key int PRIMARY KEY, n int)", "INSERT INTO latest SELECT i, -1 FROM generate_series(0, 9) i");
  const write = [{ op: "upsert", table: "latest", conflict: ["key"], data: { key: ":payload.key", n: ":payload.n" } }];
  const delivery = { ordering: "none", max_retries: 1000 };
  const configuration = await scene.configure({ write, lock_timeout_ms: 100 }, { delivery });
  await using cli = scene.start("run", configuration, "--format", "json");
  await logged(cli, "ready");
  const release = await scene.lock("SELECT 1 FROM latest WHERE key = 7 FOR UPDATE");
  await job.publish(Array.from({ length: 10 }, (_, key) => ({ subject: `${job.prefix}.a`, body: JSON.stringify({ key, n: key }) })));
  const written = async () => (await sql("SELECT key FROM latest WHERE n >= 0 ORDER BY 1")).map(([key]) => Number(key));
  await eventually(async () => (await written()).length === 9, { deadlineMs: 30_000, what: "the neighbours" });
  expect(await written()).not.toContain(7);
  await eventually(async () => (await job.manager.consumers.info(job.stream, "sink")).num_ack_pending === 1, {
    deadlineMs: 20_000,
    what: "one message that waits",
  });
  await release();
  await scene.settled(10);
  expect(await written()).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
  cli.kill("SIGTERM");
  const { exitCode, stdout, stderr } = await cli.ended;
  expect(exitCode, stderr).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({ stored: 10, dead_lettered: 0, held: 0 });
  expect(stderr).toContain("55P03");
  expect(await scene.deadLetters()).toBe(0);
});

test("WO-PG-29, FW-LED-02 two runners that want the same rows in opposite orders: deadlocks, and each message has its effect once", async () => {
  await using rising = await postgresCase(nats, postgres);
  const { sql } = rising;
  await using falling = await postgresCase(nats, postgres, { environment: { DATABASE_URL: postgres.database(rising.database) } });
  await sql("CREATE TABLE counters (id int PRIMARY KEY, n int NOT NULL)", "INSERT INTO counters SELECT i, 0 FROM generate_series(0, 19) i");
  const sink = {
    statements: { add: "WITH nap AS (SELECT pg_sleep(0.002)) UPDATE counters SET n = n + 1 FROM nap WHERE id = :id::int" },
    write: [{ op: "statement", statement: "add", params: { id: ":payload.id" } }],
    ledger: { enabled: true },
  };
  const both = [rising, falling];
  await Promise.all(
    both.map(async ({ job }, index) => {
      const id = (n: number) => (index === 0 ? n % 20 : 19 - (n % 20));
      await job.publish(Array.from({ length: 100 }, (_, n) => ({ subject: `${job.prefix}.a`, body: JSON.stringify({ id: id(n) }) })));
    }),
  );
  const deadlocks = async () =>
    Number((await sql(`SELECT deadlocks FROM pg_stat_database WHERE datname = '${rising.database}'`))[0]?.[0] ?? 0);
  const release = await rising.lock("LOCK TABLE counters IN EXCLUSIVE MODE");
  const running = Promise.all(
    both.map(async (scene, index) => {
      const named = { ...sink, application_name: `runner ${index}` };
      const delivery = { ordering: "none", batch_size: 20, max_in_flight_batches: 2, max_retries: 1000 };
      return await scene.run("run", await scene.configure(named, { delivery }), "--once", "--format", "json");
    }),
  );
  const waiting = `SELECT DISTINCT application_name FROM pg_stat_activity WHERE datname = '${rising.database}' AND wait_event_type = 'Lock'`;
  await eventually(async () => (await sql(waiting)).length === 2, { deadlineMs: 20_000, what: "both runners to wait" });
  await release();
  for (const { exitCode, stdout, stderr } of await running) {
    expect(exitCode, stderr).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ stored: 100, dead_lettered: 0, held: 0 });
  }
  expect(await sql("SELECT DISTINCT n FROM counters")).toEqual([["10"]]);
  expect(await sql("SELECT count(*) FROM sinks_ledger")).toEqual([["200"]]);
  expect((await rising.deadLetters()) + (await falling.deadLetters())).toBe(0);
  await eventually(async () => (await deadlocks()) > 0, { deadlineMs: 10_000, what: "a deadlock in the server's statistics" });
  for (const scene of both) {
    const proof = await scene.run("verify", await scene.configure(sink));
    expect(proof.exitCode, proof.stdout + proof.stderr).toBe(0);
  }
});
