import { startProxy } from "@sinks/testing/faults";
import { eventually, type NatsServer, type PostgresServer, startNats, startPostgres } from "@sinks/testing/services";
import { afterAll, beforeAll, expect, test } from "vitest";
import { logged } from "./support/pipeline-case.js";
import { type PostgresCase, postgresCase } from "./support/postgres-case.js";
import { envelopeMode, ledgerMode, type PostgresMode } from "./support/postgres-modes.js";

let nats: NatsServer;
let postgres: PostgresServer;
beforeAll(async () => {
  nats = await startNats();
  postgres = await startPostgres({ ownServer: true });
});
afterAll(async () => {
  await nats[Symbol.asyncDispose]();
  await postgres[Symbol.asyncDispose]();
});

const publish = ({ job }: PostgresCase, count: number) =>
  job.publish(Array.from({ length: count }, (_, n) => ({ subject: `${job.prefix}.a`, body: JSON.stringify({ n }) })));
const consumer = ({ job }: PostgresCase) => job.manager.consumers.info(job.stream, "sink");
const naps = (seconds: number) =>
  `CREATE FUNCTION nap() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_sleep(${seconds}); RETURN NULL; END'`;

/** Each message of the stream has one row, none is a dead letter, and `verify` agrees. */
async function proven(scene: PostgresCase, mode: PostgresMode, configuration: string, count: number): Promise<void> {
  const stored = (await scene.sql(`${mode.stored} ORDER BY 1`)).map(([sequence]) => Number(sequence));
  expect(stored).toEqual(Array.from({ length: count }, (_, index) => index + 1));
  expect(await scene.deadLetters()).toBe(0);
  const proof = await scene.run("verify", configuration, "--format", "json");
  expect(proof.exitCode, proof.stdout + proof.stderr).toBe(0);
  expect(JSON.parse(proof.stdout)).toMatchObject({ stored: count, pending: 0, missing: [] });
}

const slow = "CREATE TRIGGER slow AFTER INSERT ON events FOR EACH STATEMENT EXECUTE FUNCTION nap()";

/** Runs 240 messages in batches of 20 and terminates the session of a write, three times. */
async function terminatedRun(scene: PostgresCase, configuration: string) {
  await using cli = scene.start("run", configuration, "--format", "json");
  await publish(scene, 240);
  for (let ended = 0; ended < 3; )
    ended += await eventually(() => scene.terminate("wait_event = 'PgSleep'"), { deadlineMs: 20_000, what: "a write", intervalMs: 5 });
  await scene.settled(240);
  cli.kill("SIGTERM");
  const { exitCode, stdout, stderr } = await cli.ended;
  expect(exitCode, stderr).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({ stored: 240, dead_lettered: 0 });
  expect(stderr).toContain("57P01");
}

test("WO-PG-28, FW-RUN-19 sessions terminated in mid-batch, COMMIT not sent: held, and no delivery and no retry is spent", async () => {
  await using scene = await postgresCase(nats, postgres);
  await scene.sql(...ledgerMode.schema, "CREATE TABLE seen (sequence bigint)", naps(0.01), slow);
  const [write] = ledgerMode.sink.write;
  // Two runs of writes: COMMIT waits for their replies (WO-PG-24).
  const sink = { ...ledgerMode.sink, write: [write, { table: "seen", data: { sequence: ":stream_sequence" } }] };
  const configuration = await scene.configure(sink, { delivery: { batch_size: 20, max_retries: 0 } });
  await terminatedRun(scene, configuration);
  expect(await consumer(scene)).toMatchObject({ num_redelivered: 0, delivered: { consumer_seq: 240 } });
  await proven(scene, ledgerMode, configuration, 240);
});

test("WO-PG-28, WO-RT-06 sessions terminated in mid-batch, COMMIT sent along: unknown, written again, each message has one row", async () => {
  await using scene = await postgresCase(nats, postgres);
  await scene.sql(...ledgerMode.schema, naps(0.05), slow);
  const configuration = await scene.configure(ledgerMode.sink, { delivery: { batch_size: 20, max_retries: 100 } });
  await terminatedRun(scene, configuration);
  await proven(scene, ledgerMode, configuration, 240);
});

test("FW-RUN-19, WO-ERR-04 a server that is stopped and started again: held, told in health, stored by the same run", async () => {
  await using scene = await postgresCase(nats, postgres);
  const configuration = await scene.configure(envelopeMode.sink, { delivery: { max_retries: 0 } });
  await using cli = scene.start("run", configuration);
  await logged(cli, "ready");
  await publish(scene, 5);
  await scene.settled(5);
  await postgres.stop();
  await publish(scene, 20);
  await scene.red(/^destination_unavailable: .*PostgreSQL cannot be reached: ECONNREFUSED/);
  const since = performance.now();
  await eventually(() => performance.now() - since > 2500, { deadlineMs: 5000, what: "more than two leases" });
  expect(await consumer(scene)).toMatchObject({ num_redelivered: 0, ack_floor: { stream_seq: 5 } });
  await postgres.restart();
  await scene.settled(25);
  expect(await consumer(scene)).toMatchObject({ num_redelivered: 0, delivered: { consumer_seq: 25 } });
  await logged(cli, "destination is back");
  cli.kill("SIGTERM");
  expect((await cli.ended).exitCode).toBe(0);
  await proven(scene, envelopeMode, configuration, 25);
});

test("WO-PG-26, FW-LED-02, WO-RT-06 the reply of COMMIT is lost with the connection: unknown, repeated, and no row twice", async () => {
  await using proxy = await startProxy({ port: postgres.port });
  await using scene = await postgresCase(nats, postgres, { port: proxy.port });
  const trigger =
    "CREATE CONSTRAINT TRIGGER slow AFTER INSERT ON events DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (NEW.n = 0) EXECUTE FUNCTION nap()";
  await scene.sql(...ledgerMode.schema, naps(0.5), trigger);
  const configuration = await scene.configure(ledgerMode.sink);
  await using cli = scene.start("run", configuration, "--format", "json");
  await logged(cli, "ready");
  await publish(scene, 20);
  const committing = `SELECT 1 FROM pg_stat_activity WHERE datname = '${scene.database}' AND query = 'COMMIT' AND wait_event = 'PgSleep'`;
  await eventually(async () => (await scene.sql(committing)).length > 0, { deadlineMs: 20_000, what: "a COMMIT", intervalMs: 5 });
  proxy.dropReplies();
  await eventually(async () => (await scene.sql(ledgerMode.stored)).length > 0, { deadlineMs: 20_000, what: "what it made durable" });
  proxy.cut();
  await proxy.pass();
  await scene.settled(20);
  cli.kill("SIGTERM");
  const { exitCode, stdout, stderr } = await cli.ended;
  expect(exitCode, stderr).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({ stored: 20, dead_lettered: 0 });
  expect(stderr).toContain("UnknownOutcomeError");
  await proven(scene, ledgerMode, configuration, 20);
});
