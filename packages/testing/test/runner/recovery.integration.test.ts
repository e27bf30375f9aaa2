import { headers, type MsgHdrs } from "@nats-io/transport-node";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { eventually } from "../../src/eventually.js";
import type { NatsServer } from "../../src/service/nats-server.js";
import { startNats } from "../../src/service/start-nats.js";
import { runOnce, startPipeline } from "./support/pipeline.js";
import { RecordingSink } from "./support/recording-sink.js";
import { Stage } from "./support/stage.js";
import { deliverInVain, giveUp, strand, takeTwice } from "./support/stranded.js";

let nats: NatsServer;
beforeAll(async () => {
  nats = await startNats();
});
afterAll(() => nats[Symbol.asyncDispose]());

function repeated(name: string, times: number): MsgHdrs {
  const list = headers();
  for (let value = 1; value <= times; value += 1) list.append(name, String(value));
  return list;
}

const workQueue = { deadLetters: true, stream: { retention: "workqueue" as const } };

describe.concurrent("FW-RUN-21 messages that used up their deliveries while no runner was there", () => {
  test("are dead-lettered when the destination lacks them, and acknowledged when it has them; a work queue lets go of all", async () => {
    await using stage = await Stage.open(nats.url, workQueue);
    await strand(stage, 3);
    const sink = new RecordingSink({ lookup: (sequence) => sequence === 2 });
    await using _pipeline = await startPipeline(stage, sink);
    await eventually(async () => (await stage.streamState()).messages === 0, { deadlineMs: 10_000, what: "the work queue to be empty" });
    const letters = (await stage.deadLetters()).map(({ record }) => [record["stream_sequence"], record["error_code"]]);
    expect(letters.toSorted()).toEqual([
      [1, "max_deliver_exceeded"],
      [3, "max_deliver_exceeded"],
    ]);
    expect(sink.writes).toEqual([]);
  });

  test("are written once more to a sink that cannot look them up", async () => {
    await using stage = await Stage.open(nats.url, workQueue);
    await strand(stage, 3);
    const sink = new RecordingSink();
    expect(await runOnce(stage, sink)).toMatchObject({ stored: 3, deadLettered: 0, complete: true });
    expect(sink.missing(3)).toEqual([]);
    await eventually(async () => (await stage.streamState()).messages === 0, { deadlineMs: 10_000, what: "the work queue to be empty" });
  });

  test("FW-POL-04 pass the gates like a delivery, also where they are written once more", async () => {
    await using stage = await Stage.open(nats.url, workQueue);
    await deliverInVain(stage, 0);
    await stage.publish("a", "good");
    await stage.publish("a", "just 17 bytes now");
    await stage.publish("a", "{}", { "Nats-Sinks-Priority": "hi\u0001gh" });
    // One name three times: the limit counts lines, which only the bytes of the stream still tell.
    await stage.client.publish(stage.subject("a"), "{}", { headers: repeated("X-Trace", 3) });
    await takeTwice(stage, 4);
    await giveUp(stage);
    const sink = new RecordingSink();
    const limits = { enabled: true, max_payload_bytes: 16, max_header_count: 2 };
    const summary = await runOnce(stage, sink, { size_policy: limits, delivery: { ordering: "none" } });
    expect(summary).toMatchObject({ stored: 1, deadLettered: 3, complete: true });
    expect(sink.order()).toEqual([1]);
    const letters = (await stage.deadLetters()).map(({ record }) => [record["stream_sequence"], record["error_code"]]);
    expect(letters.toSorted()).toEqual([
      [2, "payload_too_large"],
      [3, "validation_failed"],
      [4, "header_count_too_large"],
    ]);
  });

  test("in an order are dead-lettered rather than written behind what is newer", async () => {
    await using stage = await Stage.open(nats.url, workQueue);
    await strand(stage, 2);
    const sink = new RecordingSink();
    expect(await runOnce(stage, sink, { delivery: { ordering: "strict" } })).toMatchObject({ stored: 0, deadLettered: 2, complete: true });
  });

  test("FW-CLI-08 without dead letters they are held, and a run with an end does not call that reached", async () => {
    await using stage = await Stage.open(nats.url);
    await strand(stage, 2);
    const sink = new RecordingSink({ lookup: () => false });
    const summary = await runOnce(stage, sink, { delivery: { retry_backoff_max_ms: 60_000 } });
    expect(summary).toMatchObject({ stored: 0, held: 2, complete: false });
    expect(summary.reason).toContain("2 messages are held");
  });

  test("held ones are attempted again when their time comes", async () => {
    await using stage = await Stage.open(nats.url);
    await strand(stage, 2);
    const sink = new RecordingSink({ lookup: () => false });
    await using _pipeline = await startPipeline(stage, sink, { delivery: { retry_backoff_max_ms: 100 } });
    await eventually(() => sink.distinct === 2, { deadlineMs: 10_000, what: "both to be stored" });
  });

  test("what another filter delivers, what left the stream and what comes again are left alone", async () => {
    await using stage = await Stage.open(nats.url, { deadLetters: true });
    await strand(stage, 3);
    await stage.manager.streams.deleteMessage(stage.name, 2);
    const sink = new RecordingSink({ lookup: () => false });
    await using pipeline = await startPipeline(stage, sink);
    await stage.fill(2);
    await eventually(() => sink.distinct === 2 && pipeline.runner.status().deadLettered === 2, { deadlineMs: 10_000, what: "the rest" });
    expect((await stage.deadLetters()).map(({ record }) => record["stream_sequence"]).toSorted()).toEqual([1, 3]);
    expect(sink.stored.map(({ sequence }) => sequence).toSorted()).toEqual([4, 5]);
  });
});

describe.concurrent("FW-RUN-21 messages that use up their deliveries while a runner is there", () => {
  test("are dead-lettered by the server's advisory, once", async () => {
    await using stage = await Stage.open(nats.url, workQueue);
    await deliverInVain(stage, 3, 1500);
    const sink = new RecordingSink();
    await using pipeline = await startPipeline(stage, sink);
    await eventually(async () => (await stage.streamState()).messages === 0, { deadlineMs: 15_000, what: "the work queue to be empty" });
    expect((await stage.deadLetters()).map(({ record }) => record["stream_sequence"]).toSorted()).toEqual([1, 2, 3]);
    expect(pipeline.telemetry.counter("max_deliveries_total")).toBe(3);
    expect(sink.writes).toEqual([]);
  });

  test("one that is still held here is left to its own outcome", async () => {
    await using stage = await Stage.open(nats.url, workQueue);
    await stage.addConsumer({ max_deliver: 2, ack_wait: 300e6 });
    await stage.fill(1);
    let open: () => void = () => undefined;
    const gate = new Promise<void>((resolve) => {
      open = resolve;
    });
    const sink = new RecordingSink({ during: () => gate });
    await using pipeline = await startPipeline(stage, sink, { delivery: { in_progress: { enabled: false } } });
    await eventually(async () => (await stage.consumerInfo()).num_ack_pending === 0 && sink.messagesInWrites === 1, {
      deadlineMs: 10_000,
      what: "the server to give it up",
    });
    open();
    await eventually(async () => (await stage.streamState()).messages === 0, { deadlineMs: 10_000, what: "its ack" });
    expect([sink.distinct, pipeline.runner.status().deadLettered]).toEqual([1, 0]);
  });
});
