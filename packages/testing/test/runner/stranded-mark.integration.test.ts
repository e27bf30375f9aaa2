import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { eventually } from "../../src/eventually.js";
import type { NatsServer } from "../../src/service/nats-server.js";
import { startNats } from "../../src/service/start-nats.js";
import { runOnce, startPipeline } from "./support/pipeline.js";
import { RecordingSink } from "./support/recording-sink.js";
import { Stage } from "./support/stage.js";
import { deliverInVain, strand } from "./support/stranded.js";

let nats: NatsServer;
beforeAll(async () => {
  nats = await startNats();
});
afterAll(() => nats[Symbol.asyncDispose]());

const key = "_sinks.stranded";
const metadataOf = async (stage: Stage) => (await stage.consumerInfo()).config.metadata ?? {};
const withoutLetters = { dead_letter: { enabled: false } };

/** Strands some messages and has a runner without dead letters mark and hold them; something later moves the floor. */
async function markedAndForgotten(stage: Stage, count: number): Promise<void> {
  await strand(stage, count);
  const sink = new RecordingSink({ lookup: (sequence) => sequence > count });
  await using pipeline = await startPipeline(stage, sink, { ...withoutLetters, delivery: { retry_backoff_max_ms: 60_000 } });
  await eventually(() => pipeline.runner.status().held === count, { deadlineMs: 10_000, what: "all to be held" });
  await stage.fill(1);
  await eventually(async () => (await stage.consumerInfo()).ack_floor.stream_seq === count + 1, { deadlineMs: 10_000, what: "the floor" });
}

const lettersOf = async (stage: Stage) => (await stage.deadLetters()).map(({ record }) => record["stream_sequence"]).toSorted();

describe.concurrent("FW-RUN-21 the mark of messages out of deliveries", () => {
  test("outlives the server's memory of them, and is gone when they are settled", async () => {
    await using stage = await Stage.open(nats.url, { deadLetters: true });
    await markedAndForgotten(stage, 3);
    expect((await metadataOf(stage))[key]).toMatch(/^~?1-3$/);
    const sink = new RecordingSink({ lookup: () => false });
    expect(await runOnce(stage, sink)).toMatchObject({ deadLettered: 3, stored: 0, complete: true });
    expect(await lettersOf(stage)).toEqual([1, 2, 3]);
    expect(await metadataOf(stage)).not.toHaveProperty([key]);
  });

  test("FW-RUN-03 is no drift, and stays through reconcile, whatever else of the metadata changes", async () => {
    await using stage = await Stage.open(nats.url, { deadLetters: true });
    await markedAndForgotten(stage, 2);
    const management = { mode: "reconcile", metadata: { owner: "tests" }, max_ack_pending: 5555 };
    const held = { ...withoutLetters, delivery: { retry_backoff_max_ms: 60_000 } };
    const sink = new RecordingSink({ lookup: () => false });
    await runOnce(stage, sink, { ...held, consumer_management: management });
    expect((await stage.consumerInfo()).config.max_ack_pending).toBe(5555);
    expect(await metadataOf(stage)).toMatchObject({ owner: "tests", [key]: expect.stringMatching(/^~?1-2$/) });
    const bound = { consumer_management: { ...management, mode: "bind_only" } };
    expect(await runOnce(stage, sink, bound)).toMatchObject({ deadLettered: 2, complete: true });
    expect(await metadataOf(stage)).toMatchObject({ owner: "tests" });
    expect(await metadataOf(stage)).not.toHaveProperty([key]);
  });

  test("FW-RUN-05 goes over to a consumer that is made again", async () => {
    await using stage = await Stage.open(nats.url, { deadLetters: true });
    await markedAndForgotten(stage, 2);
    const sink = new RecordingSink({ lookup: () => false });
    const delivery = { retry_backoff_max_ms: 60_000, on_consumer_missing: "recreate" };
    const management = { ack_wait_seconds: 0.3, max_deliver: 2 };
    await using pipeline = await startPipeline(stage, sink, { ...withoutLetters, delivery, consumer_management: management });
    await eventually(() => pipeline.runner.status().held === 2, { deadlineMs: 10_000, what: "both to be held again" });
    await stage.manager.consumers.delete(stage.name, stage.consumer);
    const made = () => stage.consumerInfo().catch(() => null);
    await eventually(made, { deadlineMs: 10_000, what: "another consumer" });
    expect(await metadataOf(stage)).toMatchObject({ [key]: expect.stringMatching(/^~?1-2$/), "_sinks.recreated": "3" });
    await pipeline.stop();
    expect(await runOnce(stage, sink, { consumer_management: management })).toMatchObject({ deadLettered: 2, complete: true });
    expect(await lettersOf(stage)).toEqual([1, 2]);
  });

  test("is shared by two runners: each message is dead-lettered once, and in the end there is none", async () => {
    await using stage = await Stage.open(nats.url, { deadLetters: true });
    await deliverInVain(stage, 40, 1500);
    const sinks = [new RecordingSink(), new RecordingSink()] as const;
    await using _first = await startPipeline(stage, sinks[0]);
    await using _second = await startPipeline(stage, sinks[1]);
    await eventually(async () => new Set(await lettersOf(stage)).size === 40, { deadlineMs: 20_000, what: "all dead letters" });
    await eventually(async () => (await metadataOf(stage))[key] === undefined, { deadlineMs: 10_000, what: "the mark to go" });
    expect(await lettersOf(stage)).toHaveLength(40);
    expect([...sinks[0].writes, ...sinks[1].writes]).toEqual([]);
  });
});

test("FW-RUN-21 a login that may not mark them is told of it, and they are dead-lettered all the same", async () => {
  const denied = '"$JS.API.CONSUMER.CREATE.>", "$JS.API.CONSUMER.DURABLE.>"';
  const sink = `{ user: sink, password: sink, permissions: { publish: { deny: [${denied}] } } }`;
  const config = `no_auth_user: test\nauthorization { users: [{ user: test, password: test }, ${sink}] }`;
  await using own = await startNats({ config });
  await using stage = await Stage.open(own.url, { deadLetters: true });
  await strand(stage, 3);
  const sections = { nats: { url: own.url, user: "sink", password_env: "SINK_PASSWORD" } };
  const environment = { SINK_PASSWORD: "sink" };
  await using pipeline = await startPipeline(stage, new RecordingSink({ lookup: () => false }), sections, { environment });
  await eventually(async () => (await lettersOf(stage)).length === 3, { deadlineMs: 10_000, what: "all dead letters" });
  expect(pipeline.telemetry.texts("error")).toEqual([
    "messages out of deliveries cannot be marked on the consumer; a crash now may leave them behind",
  ]);
});
