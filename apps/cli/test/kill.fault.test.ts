import path from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { eventually, type NatsServer, startNats } from "@sinks/testing/services";
import { afterAll, beforeAll, expect, test } from "vitest";
import { deadLettered, Load, leftInStream } from "./support/load.js";
import { type PipelineCase, pipelineCase } from "./support/pipeline-case.js";
import { StoredCopies } from "./support/stored-copies.js";

/** `pnpm test:long` asks for more. */
const kills = Number(process.env["SINKS_KILL_POINTS"] ?? 20);
const modes = ["one_file_per_message", "segments"];
const rounds = Math.ceil(kills / modes.length);
/** Messages that are new in each round: enough for a load, little enough to account for after each kill. */
const perRound = 120;

let nats: NatsServer;
beforeAll(async () => {
  nats = await startNats();
});
afterAll(() => nats[Symbol.asyncDispose]());

/** On a work queue an acknowledged message is gone: what is neither stored, dead-lettered nor left in the stream is lost. */
async function workQueue(job: PipelineCase): Promise<void> {
  await job.manager.streams.delete(job.stream);
  await job.manager.streams.add({ name: job.stream, subjects: [`${job.prefix}.>`], retention: "workqueue" });
}

/** Each message is in the stream or where it belongs, each dead letter once, and each copy comes of a delivery of its own. */
async function account(job: PipelineCase, published: Load, copies: StoredCopies, when: string): Promise<void> {
  // The stream first: what is acknowledged meanwhile is then found where it went.
  const inStream = await leftInStream(job);
  const stored = await copies.read();
  const dead = await deadLettered(job);
  expect(
    [...published.good.keys()].filter((sequence) => !stored.has(sequence) && !inStream(sequence)),
    `lost ${when}`,
  ).toEqual([]);
  expect(
    [...published.bad].filter((sequence) => !dead.includes(sequence) && !inStream(sequence)),
    `poison without a dead letter ${when}`,
  ).toEqual([]);
  expect(
    dead.filter((sequence, index) => !published.bad.has(sequence) || dead.indexOf(sequence) !== index),
    `dead letters that should not be ${when}`,
  ).toEqual([]);
  const unaccounted = [...stored].filter(([, counts]) => new Set(counts).size !== counts.length).map(([sequence]) => sequence);
  expect(unaccounted, `copies of one delivery ${when}`).toEqual([]);
}

async function delivered(job: PipelineCase): Promise<number> {
  const info = await job.manager.consumers.info(job.stream, "sink").catch(() => null);
  return info?.delivered.consumer_seq ?? 0;
}

test.each(modes)(
  "FW-CERT-02, FW-RUN-22, FW-DLQ-03, FW-CLI-07 %s: killed at random points under load, nothing is lost and every duplicate is accounted for",
  async (mode) => {
    await using job = await pipelineCase(nats);
    await workQueue(job);
    const published = new Load(job);
    const copies = new StoredCopies(path.join(job.project.folder, "out"));
    const configure = (delivery: object): Promise<string> =>
      job.configure({
        sink: { type: "file", directory: "out", mode, payload_mode: "json_only" },
        consumer_management: { ack_wait_seconds: 1 },
        dead_letter: { enabled: true, subject: job.deadLetters.subject, max_ratio: 1 },
        delivery: { max_messages_in_flight: 200, ...delivery },
      });

    for (let round = 1; round <= rounds; round += 1) {
      // Every second round the sink is slow: a few messages a write, one write at a time.
      const slow = round % 2 === 0;
      const configuration = await configure(slow ? { batch_size: 3, max_in_flight_batches: 1 } : { batch_size: 50 });
      const before = await delivered(job);
      await using cli = job.start("run", configuration);
      const load = published.publish(perRound);
      const wanted = before + Math.ceil(Math.random() * perRound);
      await eventually(async () => (await delivered(job)) >= wanted || !cli.running(), {
        deadlineMs: 30_000,
        what: `delivery ${wanted} in round ${round}`,
        intervalMs: 2,
      });
      // From there anywhere in the way of a message: fetch, write, dead letter, acknowledgement.
      await wait(Math.random() * 25);
      expect(cli.running(), cli.stderr()).toBe(true);
      cli.kill("SIGKILL");
      await cli.ended;
      await load;
      await account(job, published, copies, `in round ${round}`);
      const proof = await job.run("verify", configuration, "--format", "json");
      expect(proof.exitCode, `round ${round}: ${proof.stdout}${proof.stderr}`).toBe(0);
    }

    const configuration = await configure({});
    const { exitCode, stderr } = await job.run("run", configuration, "--once");
    expect(exitCode, stderr).toBe(0);
    await account(job, published, copies, "at the end");
    const stored = await copies.read();
    expect([...published.good.keys()].filter((sequence) => !stored.has(sequence))).toEqual([]);
    expect((await deadLettered(job)).toSorted((a, b) => a - b)).toEqual([...published.bad].toSorted((a, b) => a - b));
    expect((await job.manager.streams.info(job.stream)).state.messages).toBe(0);
    const proof = await job.run("verify", configuration, "--format", "json");
    expect(proof.exitCode, proof.stdout + proof.stderr).toBe(0);
    expect(JSON.parse(proof.stdout)).toMatchObject({
      dead_lettered: published.bad.size,
      stored: published.good.size,
      pending: 0,
      missing: [],
    });
  },
  1_200_000,
);
