import { PermanentSinkError } from "@sinks/core";
import { openDeadLetterReader } from "@sinks/core/runtime";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { eventually } from "../../src/eventually.js";
import { freePort } from "../../src/service/free-port.js";
import type { NatsServer } from "../../src/service/nats-server.js";
import { startNats } from "../../src/service/start-nats.js";
import { type RunningPipeline, runOnce, startPipeline } from "./support/pipeline.js";
import { RecordingSink } from "./support/recording-sink.js";
import { Stage } from "./support/stage.js";

let nats: NatsServer;
beforeAll(async () => {
  nats = await startNats();
});
afterAll(() => nats[Symbol.asyncDispose]());

const refusingOdd = () => new RecordingSink({ outcome: ({ sequence }) => (sequence % 2 === 1 ? new PermanentSinkError("bad row") : null) });

/** Waits until dead letters fail, and then for longer than a lease lasts without heartbeats. */
async function failing({ runner, telemetry }: RunningPipeline): Promise<void> {
  await eventually(() => telemetry.counter("dlq_errors_total") >= 2, { deadlineMs: 30_000, what: "failed publications" });
  await eventually(() => runner.status().reasons.some((reason) => reason.startsWith("dead_letter_failed")), {
    deadlineMs: 10_000,
    what: "health to say so",
  });
  const from = performance.now();
  await eventually(() => performance.now() - from > 2500, { deadlineMs: 10_000, what: "two and a half times ack_wait" });
}

const originals = async (stage: Stage): Promise<unknown[]> =>
  (await stage.deadLetters()).map(({ record }) => record["stream_sequence"]).sort();

describe.concurrent("a dead-letter stream that takes nothing", () => {
  test("FW-DLQ-06 FW-DLQ-01 full: the originals stay leased, neighbours are stored, and all are published once there is room", async () => {
    await using stage = await Stage.open(nats.url, { deadLetters: true });
    const dead = `${stage.name}_DEAD`;
    await stage.manager.streams.update(dead, { max_msgs: 1, discard: "new" });
    await stage.fill(10);
    await stage.addConsumer({ ack_wait: 1e9 });
    const sink = refusingOdd();
    await using pipeline = await startPipeline(stage, sink);
    await failing(pipeline);
    expect(sink.order().sort((one, other) => one - other)).toEqual([2, 4, 6, 8, 10]);
    expect(await stage.consumerInfo()).toMatchObject({ num_ack_pending: 4, num_redelivered: 0 });
    expect(await stage.deadLetters()).toHaveLength(1);
    await stage.manager.streams.update(dead, { max_msgs: -1 });
    await stage.settled();
    expect(await originals(stage)).toEqual([1, 3, 5, 7, 9]);
    expect([1, 3, 5, 7, 9].map((sequence) => sink.attempts(sequence))).toEqual([1, 1, 1, 1, 1]);
  });

  test("FW-DLQ-06 FW-RUN-28 a stop while none can be published ends in time, settles none of them, and the next run does", async () => {
    await using stage = await Stage.open(nats.url, { deadLetters: true });
    const dead = `${stage.name}_DEAD`;
    await stage.manager.streams.update(dead, { max_msgs: 1, discard: "new" });
    await stage.fill(6);
    await stage.addConsumer({ ack_wait: 2e9 });
    const shutdown = { delivery: { shutdown_timeout_ms: 1000, abort_grace_ms: 500 } };
    const pipeline = await startPipeline(stage, refusingOdd(), shutdown);
    await eventually(() => pipeline.telemetry.counter("dlq_errors_total") >= 2, { deadlineMs: 30_000, what: "failed publications" });
    const from = performance.now();
    const summary = await pipeline.stop();
    expect(performance.now() - from).toBeLessThan(6000);
    expect(summary.deadLettered).toBe(1);
    await stage.manager.streams.update(dead, { max_msgs: -1 });
    expect(await runOnce(stage, refusingOdd())).toMatchObject({ complete: true });
    expect(await originals(stage)).toEqual([1, 3, 5]);
  });

  test("FW-DLQ-11 missing at start: it does not start; missing and back under another name under way: the one that captures the subject is found again", async () => {
    await using stage = await Stage.open(nats.url, { deadLetters: true });
    const dead = `${stage.name}_DEAD`;
    const other = `${stage.name}_OTHER`;
    await using pipeline = await startPipeline(stage, refusingOdd());
    await stage.fill(1);
    await stage.settled();
    await stage.manager.streams.delete(dead);
    await expect(startPipeline(stage, refusingOdd(), { nats: { consumer: "second" } })).rejects.toThrow(/no stream captures/);
    await stage.fill(2);
    await eventually(() => pipeline.telemetry.counter("dlq_errors_total") >= 1, { deadlineMs: 30_000, what: "a failed publication" });
    await stage.manager.streams.add({ name: other, subjects: [`${stage.name}.dead`] });
    try {
      await stage.settled();
      expect((await stage.manager.streams.info(other)).state.messages).toBe(1);
    } finally {
      await stage.manager.streams.delete(other);
    }
  });
});

test("FW-DLQ-06 FW-DLQ-01 publish refused: the originals stay leased until the right is granted", async () => {
  const config = (rights: string) =>
    `authorization { users = [ { user: admin, password: a }, { user: pipeline, password: b ${rights} } ] }\nno_auth_user: admin`;
  await using server = await startNats({ config: config(', permissions: { publish: { deny: ["*.dead"] } }') });
  await using stage = await Stage.open(server.url, { deadLetters: true });
  await stage.fill(4);
  await stage.addConsumer({ ack_wait: 1e9 });
  const sink = refusingOdd();
  await using pipeline = await startPipeline(stage, sink, { nats: { user: "pipeline", password: "b" } });
  await failing(pipeline);
  expect(await stage.consumerInfo()).toMatchObject({ num_ack_pending: 2, num_redelivered: 0 });
  expect(await stage.deadLetters()).toEqual([]);
  await server.restart({ config: config("") });
  await stage.settled(30_000);
  expect(await originals(stage)).toEqual([1, 3]);
});

test("FW-DLQ-11 a stream in another domain takes the dead letters, is checked at start, and is read by the commands", async () => {
  const leafPort = await freePort();
  await using hub = await startNats({ config: `jetstream { domain: hub }\nleafnodes { listen: "127.0.0.1:${leafPort}" }` });
  await using leaf = await startNats({
    config: `jetstream { domain: leaf }\nleafnodes { remotes = [ { url: "nats-leaf://127.0.0.1:${leafPort}" } ] }`,
  });
  await using stage = await Stage.open(leaf.url);
  await using far = await Stage.open(hub.url);
  const deadLetter = { enabled: true, subject: `${stage.name}.dead`, domain: "hub" };
  await stage.fill(4);
  await expect(startPipeline(stage, refusingOdd(), { dead_letter: deadLetter })).rejects.toThrow(/no stream captures/);
  const name = `${stage.name}_FAR`;
  await far.manager.streams.add({ name, subjects: [`${stage.name}.dead`, `${stage.name}.dead.done`] });
  expect(await runOnce(stage, refusingOdd(), { dead_letter: deadLetter })).toMatchObject({ stored: 2, deadLettered: 2, complete: true });
  expect((await far.manager.streams.info(name)).state.messages).toBe(2);
  await using reader = await openDeadLetterReader(stage.configuration({ dead_letter: deadLetter }));
  const { entries } = await reader.list({ from: 1, limit: 10 });
  expect(entries.map(({ streamSequence }) => streamSequence).sort()).toEqual([1, 3]);
});
