import { type NatsServer, type PostgresServer, startNats, startPostgres } from "@sinks/testing/services";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type PostgresCase, postgresCase } from "./support/postgres-case.js";

let nats: NatsServer;
let postgres: PostgresServer;
beforeAll(async () => {
  nats = await startNats();
  postgres = await startPostgres();
});
afterAll(async () => {
  await nats[Symbol.asyncDispose]();
  await postgres[Symbol.asyncDispose]();
});

const body =
  '{"n":9007199254740993,"long":1234567890123456789012345678901234567890,"part":0.1000000000000000055511151231257827,' +
  '"doc":{"$gt":"","n":9007199254740993},"list":[1,"two",[null],{"$where":"1"}],"note":"\'); DROP TABLE exact; --"}';
const shown = [
  "9007199254740993",
  "1234567890123456789012345678901234567890",
  "0.1000000000000000055511151231257827",
  '{"n": 9007199254740993, "$gt": ""}',
  '[1, "two", [null], {"$where": "1"}]',
  "'); DROP TABLE exact; --",
];
/** What PostgreSQL cannot hold, or nobody should. */
const impossible = ['{"note":"a\\u0000b"}', '{"note":"\\ud800"}'].map((text) =>
  text.replace("{", `{${body.slice(1, body.indexOf('"note"'))}`),
);

/** Nothing of the machine, nor of the session, may move a time. */
async function farAwayCase(): Promise<PostgresCase> {
  const scene = await postgresCase(nats, postgres, { environment: { TZ: "America/New_York" } });
  await scene.sql(`ALTER DATABASE ${scene.database} SET timezone = 'Asia/Kolkata'`);
  return scene;
}

/** Publishes a good message among those that cannot be stored; answers its JetStream time in UTC, cut to microseconds. */
async function publish({ job }: PostgresCase): Promise<string> {
  const id = `'"\\;--`;
  const bodies = [impossible[0], body, impossible[1]] as readonly string[];
  const subject = `${job.prefix}.x');DELETE/**/FROM/**/exact;--"`;
  for (const [index, each] of bodies.entries()) await job.publish([{ subject, body: each, id: `${id}${index}` }]);
  const stored = await job.manager.streams.getMessage(job.stream, { seq: 2 });
  return (stored?.timestamp ?? "").replace("T", " ").replace(/(\.\d{1,6})?\d*Z$/, (_, part = ".") => part.padEnd(7, "0"));
}

async function delivered(scene: PostgresCase, sink: object): Promise<void> {
  const configuration = await scene.configure(sink);
  const { exitCode, stdout, stderr } = await scene.run("run", configuration, "--once", "--format", "json");
  expect(exitCode, stderr).toBe(0);
  expect(JSON.parse(stdout), stderr).toMatchObject({ received: 3, stored: 1, dead_lettered: 2 });
  const proof = await scene.run("verify", configuration);
  expect(proof.exitCode, proof.stdout + proof.stderr).toBe(0);
}

const utc = (column: string) => `to_char(${column}, 'YYYY-MM-DD HH24:MI:SS.US')`;

test("FW-MAP-05, WO-VAL-03, WO-VAL-04, WO-VAL-05, WO-VAL-06, WO-GEN-03 by a write map: digits, microseconds, arrays and texts arrive as they were published", async () => {
  await using scene = await farAwayCase();
  const fields = { n: "bigint", long: "numeric", part: "numeric", doc: "jsonb", list: "jsonb", note: "text" };
  const columns = Object.entries(fields).map(([name, type]) => `${name} ${type}`);
  await scene.sql(`CREATE TABLE exact (${columns.join(", ")}, at timestamptz, wall timestamp, subject text, id text)`);
  const references = Object.fromEntries(Object.keys(fields).map((name) => [name, `:payload.${name}`]));
  const data = { ...references, at: ":timestamp", wall: ":timestamp", subject: ":subject", id: ":message_id" };
  const published = await publish(scene);
  await delivered(scene, { write: [{ table: "exact", data }], ledger: { enabled: true } });
  const names = Object.keys(fields).join(", ");
  expect(await scene.sql(`SELECT ${names}, ${utc("at AT TIME ZONE 'UTC'")}, ${utc("wall")}, subject, id FROM exact`)).toEqual([
    [...shown, published, published, `${scene.job.prefix}.x');DELETE/**/FROM/**/exact;--"`, `'"\\;--1`],
  ]);
});

test("WO-ENV-01, WO-VAL-03, WO-VAL-04, WO-VAL-05, WO-VAL-06, WO-GEN-03 as a whole message: the same", async () => {
  await using scene = await farAwayCase();
  const published = await publish(scene);
  await delivered(scene, { auto_create: true });
  const paths = ["n", "long", "part", "doc", "list", "note"].map((name) => `payload ->> '${name}'`).join(", ");
  const times = `${utc("published_at AT TIME ZONE 'UTC'")}, published_at_ns / 1000 = floor(extract(epoch FROM published_at) * 1000000)`;
  expect(await scene.sql(`SELECT ${paths}, ${times}, subject, message_id FROM sinks_messages`)).toEqual([
    [...shown, published, "t", `${scene.job.prefix}.x');DELETE/**/FROM/**/exact;--"`, `'"\\;--1`],
  ]);
});
