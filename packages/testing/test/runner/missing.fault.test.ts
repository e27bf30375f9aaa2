import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { eventually } from "../../src/eventually.js";
import type { NatsServer } from "../../src/service/nats-server.js";
import { startNats } from "../../src/service/start-nats.js";
import { closedGate } from "./support/gate.js";
import { type RunningPipeline, startPipeline } from "./support/pipeline.js";
import { RecordingSink } from "./support/recording-sink.js";
import { Stage } from "./support/stage.js";

let nats: NatsServer;
beforeAll(async () => {
  nats = await startNats();
});
afterAll(() => nats[Symbol.asyncDispose]());

const red = (pipeline: RunningPipeline, word: string) =>
  eventually(() => pipeline.runner.status().reasons.some((reason) => reason.startsWith(word)), {
    deadlineMs: 10_000,
    what: `red health ${word}`,
  });

const green = (pipeline: RunningPipeline) =>
  eventually(() => pipeline.runner.status().healthy, { deadlineMs: 15_000, what: "green health" });

describe.concurrent("FW-RUN-05 a consumer or stream that goes missing", () => {
  test("unhealthy: red at once, makes nothing by itself, binds again when the consumer returns, and loses nothing", async () => {
    await using stage = await Stage.open(nats.url);
    await stage.fill(20);
    const sink = new RecordingSink();
    await using pipeline = await startPipeline(stage, sink);
    await stage.settled();
    await stage.manager.consumers.delete(stage.name, stage.consumer);
    await red(pipeline, "consumer_missing");
    await stage.fill(20);
    await expect(stage.consumerInfo()).rejects.toThrow(/not found/);
    expect(pipeline.runner.status().state).toBe("running");
    await stage.addConsumer();
    await eventually(() => sink.missing(40).length === 0, { deadlineMs: 15_000, what: "the rest" });
    await stage.settled();
    await green(pipeline);
  });

  test("on an interest stream what is in memory is the only copy: it is written, and health says that the rest is gone", async () => {
    await using stage = await Stage.open(nats.url, { stream: { retention: "interest" } });
    await stage.addConsumer();
    await stage.fill(30);
    const gate = closedGate();
    const sink = new RecordingSink({ during: (_, signal) => gate.passed(signal) });
    const delivery = { batch_size: 10, max_in_flight_batches: 1, max_messages_in_flight: 10 };
    await using pipeline = await startPipeline(stage, sink, { delivery });
    await eventually(() => pipeline.runner.status().inFlight === 10, { deadlineMs: 10_000, what: "ten in memory" });
    await stage.manager.consumers.delete(stage.name, stage.consumer);
    await red(pipeline, "consumer_missing");
    expect(pipeline.runner.status().reasons.join()).toContain("messages not yet fetched are gone with it");
    await eventually(async () => (await stage.streamState()).messages === 0, { deadlineMs: 10_000, what: "the server to let go of all" });
    gate.open();
    await eventually(() => sink.distinct === 10, { deadlineMs: 10_000, what: "what was in memory" });
    await stage.addConsumer();
    await green(pipeline);
    await stage.fill(5);
    await stage.settled();
    expect([sink.missing(10), sink.missing(35, 31), sink.distinct]).toEqual([[], [], 15]);
  });

  test("what is in memory is still written, and its acks never go to the new consumer", async () => {
    await using stage = await Stage.open(nats.url);
    await stage.fill(30);
    const gate = closedGate();
    const sink = new RecordingSink({ during: (_, signal) => gate.passed(signal) });
    const delivery = { batch_size: 10, max_in_flight_batches: 1, max_messages_in_flight: 30 };
    await using pipeline = await startPipeline(stage, sink, { delivery });
    await eventually(() => pipeline.runner.status().inFlight === 30, { deadlineMs: 10_000, what: "all in memory" });
    await stage.manager.consumers.delete(stage.name, stage.consumer);
    await red(pipeline, "consumer_missing");
    // Another process has the new consumer's deliveries under the very same sequences.
    await stage.addConsumer({ ack_wait: 3e9 });
    const consumer = await stage.client.consumers.get(stage.name, stage.consumer);
    for await (const message of await consumer.fetch({ max_messages: 30, expires: 2000 })) expect(message.info.deliveryCount).toBe(1);
    gate.open();
    await eventually(() => sink.distinct === 30, { deadlineMs: 15_000, what: "what was in memory" });
    const info = await stage.consumerInfo();
    expect(info.ack_floor.stream_seq).toBe(0);
    expect(info.num_ack_pending).toBe(30);
    await stage.settled(30_000);
    await green(pipeline);
  });

  test("stream and consumer deleted: red stream_missing, and it goes on with the new ones", async () => {
    await using stage = await Stage.open(nats.url);
    await stage.fill(5);
    const sink = new RecordingSink();
    await using pipeline = await startPipeline(stage, sink);
    await stage.settled();
    await stage.manager.streams.delete(stage.name);
    await red(pipeline, "stream_missing");
    await stage.addStream();
    await stage.addConsumer();
    for (const text of ["new 1", "new 2", "new 3"]) await stage.publish("a", text);
    await eventually(() => sink.stored.filter(({ text }) => text.startsWith("new")).length === 3, {
      deadlineMs: 15_000,
      what: "the new ones",
    });
    await stage.settled();
    await green(pipeline);
  });

  test("recreate: made again with the stated settings, from above the last ack floor, and nothing is passed over", async () => {
    await using stage = await Stage.open(nats.url);
    await stage.fill(100);
    const gate = closedGate();
    const sink = new RecordingSink({ during: (write, signal) => (write.number === 4 ? gate.passed(signal) : undefined) });
    const sections = {
      delivery: { on_consumer_missing: "recreate", batch_size: 10, max_in_flight_batches: 1, max_messages_in_flight: 20 },
      consumer_management: { ack_wait_seconds: 9, metadata: { owner: "tests" } },
    };
    await using pipeline = await startPipeline(stage, sink, sections);
    const fourth = async () => {
      const { ack_floor, num_ack_pending } = await stage.consumerInfo();
      return sink.writes.length === 4 && ack_floor.stream_seq === 30 && num_ack_pending === 20;
    };
    await eventually(fourth, { deadlineMs: 10_000, what: "the fourth batch" });
    await stage.manager.consumers.delete(stage.name, stage.consumer);
    const made = await eventually(() => stage.consumerInfo().catch(() => null), { deadlineMs: 10_000, what: "the consumer again" });
    expect(made.config).toMatchObject({ ack_policy: "explicit", ack_wait: 9e9, metadata: { owner: "tests" } });
    gate.open();
    await eventually(() => sink.missing(100).length === 0, { deadlineMs: 20_000, what: "all" });
    await stage.settled();
    await green(pipeline);
    // Three batches were confirmed, the fourth was in the sink.
    expect(made.config).toMatchObject({ deliver_policy: "by_start_sequence", opt_start_seq: 31 });
    // Nothing below the start came twice, and nothing above was passed over.
    for (let sequence = 1; sequence <= 30; sequence += 1) expect(sink.attempts(sequence)).toBe(1);
    expect(pipeline.telemetry.texts("warn")).toContain("consumer made again");
  });

  test("recreate on a work queue starts from all: what was acked is gone, what was not must come again", async () => {
    await using stage = await Stage.open(nats.url, { stream: { retention: "workqueue" } });
    await stage.fill(40);
    const gate = closedGate();
    const sink = new RecordingSink({ during: (write, signal) => (write.number === 2 ? gate.passed(signal) : undefined) });
    const delivery = { on_consumer_missing: "recreate", batch_size: 10, max_in_flight_batches: 2 };
    await using pipeline = await startPipeline(stage, sink, { delivery });
    await eventually(async () => (await stage.streamState()).messages === 10, { deadlineMs: 10_000, what: "all but the slow batch" });
    await stage.manager.consumers.delete(stage.name, stage.consumer);
    const made = await eventually(() => stage.consumerInfo().catch(() => null), { deadlineMs: 10_000, what: "the consumer again" });
    expect(made.config.deliver_policy).toBe("all");
    gate.open();
    await eventually(async () => (await stage.streamState()).messages === 0, { deadlineMs: 20_000, what: "an empty queue" });
    expect(sink.missing(40)).toEqual([]);
    await green(pipeline);
  });

  test("recreate does not make a consumer on another incarnation of the stream", async () => {
    await using stage = await Stage.open(nats.url);
    await stage.fill(5);
    const sink = new RecordingSink();
    await using pipeline = await startPipeline(stage, sink, { delivery: { on_consumer_missing: "recreate" } });
    await stage.settled();
    await stage.manager.streams.delete(stage.name);
    await red(pipeline, "stream_missing");
    await stage.addStream();
    await red(pipeline, "consumer_missing");
    for (let looks = 0; looks < 30; looks += 1) await expect(stage.consumerInfo()).rejects.toThrow(/not found/);
    expect(pipeline.runner.status().state).toBe("running");
  });

  for (const what of ["consumer", "stream"] as const) {
    test(`exit: a missing ${what} ends the run incomplete with the reason, the sink stopped`, async () => {
      await using stage = await Stage.open(nats.url);
      await stage.fill(5);
      const sink = new RecordingSink();
      await using pipeline = await startPipeline(stage, sink, { delivery: { on_consumer_missing: "exit" } });
      await stage.settled();
      if (what === "consumer") await stage.manager.consumers.delete(stage.name, stage.consumer);
      else await stage.manager.streams.delete(stage.name);
      const summary = await pipeline.ended;
      expect(summary).toMatchObject({ complete: false, stored: 5 });
      expect(summary.reason).toContain(`${what} "${what === "consumer" ? stage.consumer : stage.name}" is missing`);
      expect(sink.stopped).toBe(1);
      expect(pipeline.runner.status().state).toBe("stopped");
    });
  }
});
