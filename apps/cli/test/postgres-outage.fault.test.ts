import { chown, stat } from "node:fs/promises";
import { mountSmall } from "@sinks/testing/faults";
import { eventually, type NatsServer, type PostgresServer, postgresQuery, startNats, startPostgres } from "@sinks/testing/services";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { logged } from "./support/pipeline-case.js";
import { type PostgresCase, postgresCase } from "./support/postgres-case.js";
import { envelopeMode, ledgerMode, type PostgresMode } from "./support/postgres-modes.js";

const password = "it's-a-Secret:@/?";
let nats: NatsServer;
let postgres: PostgresServer;
beforeAll(async () => {
  nats = await startNats();
  postgres = await startPostgres({ password: "other", settings: { max_prepared_transactions: "20", max_connections: "90" } });
});
afterAll(async () => {
  await nats[Symbol.asyncDispose]();
  await postgres[Symbol.asyncDispose]();
});

let roles = 0;

type Scene = PostgresCase & { readonly role: string };

/** A database whose sink logs in with a role of its own. */
async function caseWithRole(): Promise<Scene> {
  roles += 1;
  const role = `writer_${process.pid}_${roles}`;
  const scene = await postgresCase(nats, postgres, { login: { role, password } });
  await scene.sql(`CREATE ROLE ${role} LOGIN PASSWORD '${password.replaceAll("'", "''")}'`, `GRANT ALL ON SCHEMA public TO ${role}`);
  return Object.assign(scene, { role });
}

interface Trouble {
  readonly ids: string;
  readonly name: string;
  readonly mode: PostgresMode;
  readonly reason: RegExp;
  /** Answers how it ends. */
  begin(scene: Scene): Promise<() => Promise<unknown>>;
}

/** Two texts of SQL, one for the beginning, one for the end; sessions that are open are ended in between. */
const between = (begin: (scene: Scene) => string, end: (scene: Scene) => string) => async (scene: Scene) => {
  await scene.sql(begin(scene));
  await scene.terminate();
  return () => scene.sql(end(scene));
};

/** The same for settings of the database, made from another one. */
const setting = (begin: string, end: string) => async (scene: Scene) => {
  const alter = (change: string) => postgresQuery(postgres.superuserUrl, `ALTER DATABASE ${scene.database} ${change}`);
  await alter(begin);
  await scene.terminate();
  return () => alter(end);
};

const troubles: readonly Trouble[] = [
  {
    ids: "WO-PG-29",
    name: "a table stays locked for longer than lock_timeout_ms",
    mode: ledgerMode,
    reason: /55P03/,
    begin: (scene) => scene.lock("LOCK TABLE events"),
  },
  {
    ids: "WO-ERR-01",
    name: "the database turns read-only",
    mode: envelopeMode,
    reason: /takes no writes/,
    begin: setting("SET default_transaction_read_only = on", "RESET default_transaction_read_only"),
  },
  {
    ids: "WO-ERR-01",
    name: "others have all connections",
    mode: ledgerMode,
    reason: /53300/,
    begin: setting("CONNECTION LIMIT 0", "CONNECTION LIMIT -1"),
  },
  {
    ids: "WO-ERR-03, WO-ERR-04",
    name: "the password is another one",
    mode: envelopeMode,
    reason: /credentials_refused.*28P01/,
    begin: between(
      ({ role }) => `ALTER ROLE ${role} PASSWORD 'changed'`,
      ({ role }) => `ALTER ROLE ${role} PASSWORD '${password.replaceAll("'", "''")}'`,
    ),
  },
  {
    ids: "WO-ERR-06",
    name: "the right to insert is revoked",
    mode: ledgerMode,
    reason: /credentials_refused.*insert events: .*42501/,
    begin: between(
      ({ role }) => `REVOKE INSERT ON events FROM ${role}`,
      ({ role }) => `GRANT INSERT ON events TO ${role}`,
    ),
  },
  {
    ids: "WO-ERR-05",
    name: "the table is dropped, and made again",
    mode: ledgerMode,
    reason: /insert events: .*42P01.*sinks doctor/,
    async begin({ sql, role }) {
      await sql("CREATE TABLE kept AS TABLE events", "DROP TABLE events");
      return () => sql(`CREATE TABLE events AS TABLE kept; GRANT ALL ON events TO ${role}`);
    },
  },
  {
    ids: "WO-ERR-05",
    name: "a column has another name",
    mode: envelopeMode,
    reason: /envelope sinks_messages: .*42703.*sinks doctor/,
    async begin({ sql }) {
      await sql("ALTER TABLE sinks_messages RENAME COLUMN payload TO body");
      return () => sql("ALTER TABLE sinks_messages RENAME COLUMN body TO payload");
    },
  },
];

const numbered = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, index) => String(from + index));

const pad = "x".repeat(3000);

/** Begins the trouble under a running pipeline, sees that everything is held while it lasts, and stored once it is over. */
async function survives({ mode, reason, begin }: Trouble): Promise<void> {
  await using scene = await caseWithRole();
  const { job, sql, role } = scene;
  const publish = (count: number) =>
    job.publish(Array.from({ length: count }, (_, n) => ({ subject: `${job.prefix}.a`, body: JSON.stringify({ n, pad }) })));
  const stored = async () => (await sql(`${mode.stored} ORDER BY 1`)).map(([sequence]) => sequence);
  await sql(...mode.schema, `GRANT ALL ON ALL TABLES IN SCHEMA public TO ${role}`);
  // One failure that counted would end as a dead letter, and one lease that was lost as another delivery.
  const delivery = { max_retries: 0, batch_size: 5 };
  const configuration = await scene.configure({ ...mode.sink, lock_timeout_ms: 100, acquire_timeout_ms: 500 }, { delivery });
  await using cli = scene.start("run", configuration, "--format", "json");
  await logged(cli, "ready");
  await publish(5);
  await scene.settled(5);
  const end = await begin(scene);
  await publish(20);
  await scene.red(new RegExp(`^destination_unavailable: .*(?:${reason.source})`));
  const since = performance.now();
  await eventually(() => performance.now() - since > 1500, { deadlineMs: 5000, what: "more than a lease" });
  expect(cli.running(), cli.stderr()).toBe(true);
  const held = await job.manager.consumers.info(job.stream, "sink");
  expect(held, cli.stderr()).toMatchObject({ num_redelivered: 0, ack_floor: { stream_seq: 5 } });
  expect(held.num_ack_pending).toBeGreaterThan(0);
  await end();
  await scene.settled(25);
  expect(await job.manager.consumers.info(job.stream, "sink")).toMatchObject({ num_redelivered: 0, delivered: { consumer_seq: 25 } });
  expect(await stored()).toEqual(numbered(1, 25));
  expect(await scene.deadLetters()).toBe(0);
  cli.kill("SIGTERM");
  const { exitCode, stdout, stderr } = await cli.ended;
  expect(exitCode, stderr).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({ received: 25, stored: 25, dead_lettered: 0, held: 0 });
  const proof = await scene.run("verify", configuration, "--format", "json");
  expect(proof.exitCode, proof.stdout + proof.stderr).toBe(0);
  for (const text of [password, encodeURIComponent(password)]) expect(stderr + proof.stderr).not.toContain(text);
}

describe("FW-RUN-19, FW-CERT-03 an outage of PostgreSQL: held without a redelivery or a dead letter, told in health, stored without a restart", () => {
  test.concurrent.for(troubles.map((trouble) => [`${trouble.ids} ${trouble.name}`, trouble] as const))("%s", ([, trouble]) =>
    survives(trouble),
  );

  test.concurrent("WO-ERR-01 the disk of the database is full", async (context) => {
    const { mount, reason } = await mountSmall(1024 * 1024);
    if (mount === null) return context.skip(reason);
    await using _mount = mount;
    if (postgres.pid === null) return context.skip("the server is no process of this machine");
    const { uid, gid } = await stat(`/proc/${postgres.pid}`);
    await chown(mount.folder, uid, gid);
    await postgresQuery(postgres.superuserUrl, `CREATE TABLESPACE small LOCATION '${mount.folder}'`);
    await survives({
      ids: "WO-ERR-01",
      name: "the disk is full",
      mode: {
        ...ledgerMode,
        sink: { ...ledgerMode.sink, write: [{ table: "events", data: { sequence: ":stream_sequence", pad: ":payload.pad" } }] },
        schema: [
          "CREATE TABLE events (sequence bigint, pad text) TABLESPACE small",
          // A row is as large as its text, so that the table soon needs another block.
          "ALTER TABLE events ALTER COLUMN pad SET STORAGE PLAIN",
        ],
      },
      reason: /insert events: .*53100/,
      async begin() {
        await mount.fill();
        return () => mount.free();
      },
    });
  });
});
