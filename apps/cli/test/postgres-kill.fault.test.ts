import { setTimeout as wait } from "node:timers/promises";
import { natsFilter, onSubject, startProxy } from "@sinks/testing/faults";
import { eventually, type NatsServer, type PostgresServer, startNats, startPostgres } from "@sinks/testing/services";
import { afterAll, beforeAll, expect, test } from "vitest";
import { deadLettered, Load, leftInStream } from "./support/load.js";
import { type PostgresCase, postgresCase } from "./support/postgres-case.js";
import { envelopeMode, ledgerMode, type PostgresMode } from "./support/postgres-modes.js";

/** Keys that the messages of the upserts share. */
const keys = 30;

/** Upserts of shared keys: the newest message of a key has its row, and a repetition puts no older one over it. */
const upsertMode: PostgresMode = {
  name: "upserts",
  sink: {
    write: [{ op: "upsert", table: "latest", conflict: ["key"], data: { key: ":payload.key", sequence: ":stream_sequence" } }],
  },
  schema: ["CREATE TABLE latest (key int PRIMARY KEY, sequence bigint NOT NULL)"],
  stored: "SELECT sequence FROM latest",
};

const modes = [envelopeMode, ledgerMode, upsertMode];
const rounds = Math.ceil(Number(process.env["SINKS_KILL_POINTS"] ?? 15) / modes.length);
/** Messages that are new in each round: enough for a load, little enough to account for after each kill. */
const perRound = 80;

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

/** Messages of the load that must be in the table when `isGone` says of a sequence that the stream has let it go. */
function mustBeStored(mode: PostgresMode, load: Load, isGone: (sequence: number) => boolean): readonly number[] {
  const gone = [...load.good.keys()].filter(isGone).toSorted((a, b) => a - b);
  if (mode !== upsertMode) return gone;
  const newest = new Map(gone.map((sequence) => [(load.good.get(sequence) ?? 0) % keys, sequence]));
  return [...newest.values()];
}

/** Each message is in the stream or where it belongs: none is lost, no good one is a dead letter, none has two rows. */
async function account({ job, sql }: PostgresCase, mode: PostgresMode, load: Load, when: string): Promise<void> {
  // The stream first: what is acknowledged meanwhile is then found where it went.
  const inStream = await leftInStream(job);
  const stored = (await sql(mode.stored)).map(([sequence]) => Number(sequence));
  const dead = await deadLettered(job);
  const lost = mustBeStored(mode, load, (sequence) => !inStream(sequence)).filter((sequence) => {
    if (mode !== upsertMode) return !stored.includes(sequence);
    const key = (load.good.get(sequence) ?? 0) % keys;
    return !stored.some((other) => other >= sequence && (load.good.get(other) ?? -1) % keys === key);
  });
  expect(lost, `lost ${when}`).toEqual([]);
  expect(new Set(stored).size, `rows of one message ${when}`).toBe(stored.length);
  const unburied = [...load.bad].filter((sequence) => !dead.includes(sequence) && !inStream(sequence));
  expect(unburied, `poison without a dead letter ${when}`).toEqual([]);
  const wrong = dead.filter((sequence, index) => !load.bad.has(sequence) || dead.indexOf(sequence) !== index);
  expect(wrong, `dead letters that should not be ${when}`).toEqual([]);
}

async function delivered({ job }: PostgresCase): Promise<number> {
  const info = await job.manager.consumers.info(job.stream, "sink").catch(() => null);
  return info?.delivered.consumer_seq ?? 0;
}

test.for(modes.map((mode) => [mode.name, mode] as const))(
  "FW-CERT-02, FW-LED-01, WO-ENV-02, WO-PG-22 %s: killed at random points under load, nothing is lost and no message has two rows",
  async ([, mode]) => {
    await using scene = await postgresCase(nats, postgres);
    const { job } = scene;
    await job.remakeStream({ retention: "workqueue" });
    await scene.sql(...mode.schema);
    const load = new Load(job, keys);
    const configure = (delivery: object) => scene.configure(mode.sink, { delivery: { max_messages_in_flight: 200, ...delivery } });

    for (let round = 1; round <= rounds; round += 1) {
      // Every second round the sink is slow: a few messages a write, one write at a time.
      const slow = round % 2 === 0;
      const configuration = await configure(slow ? { batch_size: 3, max_in_flight_batches: 1 } : { batch_size: 30 });
      const before = await delivered(scene);
      await using cli = scene.start("run", configuration);
      const published = load.publish(perRound);
      const wanted = before + Math.ceil(Math.random() * perRound);
      await eventually(async () => (await delivered(scene)) >= wanted || !cli.running(), {
        deadlineMs: 30_000,
        what: `delivery ${wanted} in round ${round}`,
        intervalMs: 2,
      });
      // From there anywhere in the way of a message: fetch, transaction, dead letter, acknowledgement.
      await wait(Math.random() * 25);
      expect(cli.running(), cli.stderr()).toBe(true);
      cli.kill("SIGKILL");
      await cli.ended;
      await published;
      await account(scene, mode, load, `in round ${round}`);
    }

    const configuration = await configure({});
    const { exitCode, stderr } = await scene.run("run", configuration, "--once");
    expect(exitCode, stderr).toBe(0);
    await account(scene, mode, load, "at the end");
    expect((await job.manager.streams.info(job.stream)).state.messages).toBe(0);
    expect((await deadLettered(job)).toSorted((a, b) => a - b)).toEqual([...load.bad].toSorted((a, b) => a - b));
    const stored = (await scene.sql(`${mode.stored} ORDER BY 1`)).map(([sequence]) => Number(sequence));
    expect(stored).toEqual(mustBeStored(mode, load, () => true).toSorted((a, b) => a - b));
    if (mode === upsertMode) return;
    const proof = await scene.run("verify", configuration, "--format", "json");
    expect(proof.exitCode, proof.stdout + proof.stderr).toBe(0);
    expect(JSON.parse(proof.stdout)).toMatchObject({ stored: load.good.size, dead_lettered: load.bad.size, pending: 0, missing: [] });
  },
);

test.for([envelopeMode, ledgerMode].map((mode) => [mode.name, mode] as const))(
  "FW-CERT-02, FW-LED-02, WO-ENV-02 %s: killed between commit and ack, everything comes again and has the one row it had",
  async ([, mode]) => {
    await using scene = await postgresCase(nats, postgres);
    const { job } = scene;
    await scene.sql(...mode.schema);
    await using deaf = await startProxy({ port: nats.port, toServer: natsFilter(onSubject("$JS.ACK.>")) });
    const configuration = await scene.configure(mode.sink);
    const read = () => scene.sql(`${mode.stored} ORDER BY 1`);
    await using cli = scene.start("run", configuration, "--set", `nats.url=nats://127.0.0.1:${deaf.port}`);
    await job.publish(Array.from({ length: 30 }, (_, n) => ({ subject: `${job.prefix}.a`, body: JSON.stringify({ n }) })));
    await eventually(async () => (await read().catch(() => [])).length === 30, { deadlineMs: 20_000, what: "30 rows" });
    cli.kill("SIGKILL");
    await cli.ended;
    expect((await job.manager.consumers.info(job.stream, "sink")).ack_floor.stream_seq).toBe(0);
    const next = await scene.run("run", configuration, "--once", "--format", "json");
    expect(next.exitCode, next.stderr).toBe(0);
    expect(JSON.parse(next.stdout)).toMatchObject({ stored: 30, dead_lettered: 0 });
    expect((await job.manager.consumers.info(job.stream, "sink")).delivered.consumer_seq).toBeGreaterThanOrEqual(60);
    expect((await read()).map(([sequence]) => Number(sequence))).toEqual(Array.from({ length: 30 }, (_, index) => index + 1));
    const proof = await scene.run("verify", configuration);
    expect(proof.exitCode, proof.stdout + proof.stderr).toBe(0);
  },
);
