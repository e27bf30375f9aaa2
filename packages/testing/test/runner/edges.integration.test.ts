import { connect as connectSocket } from "node:net";
import { PermanentSinkError, TemporarySinkError } from "@sinks/core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { eventually } from "../../src/eventually.js";
import type { NatsServer } from "../../src/service/nats-server.js";
import { startNats } from "../../src/service/start-nats.js";
import { closedGate } from "./support/gate.js";
import { runOnce, startPipeline } from "./support/pipeline.js";
import { RecordingSink } from "./support/recording-sink.js";
import { Stage } from "./support/stage.js";
import { overWire, startWire } from "./support/wire.js";

let nats: NatsServer;
beforeAll(async () => {
  nats = await startNats();
});
afterAll(() => nats[Symbol.asyncDispose]());

/** Publishes bytes that no decent client would send: a header block of the caller's own making. */
async function publishRaw(port: number, subject: string, headerBlock: Buffer, body: string): Promise<void> {
  const socket = connectSocket({ port, host: "127.0.0.1" });
  let heard = "";
  socket.setEncoding("latin1").on("data", (chunk: string) => {
    heard += chunk;
  });
  const total = headerBlock.length + Buffer.byteLength(body);
  socket.write('CONNECT {"verbose":false,"headers":true,"no_responders":true}\r\n');
  socket.write(`HPUB ${subject} ${headerBlock.length} ${total}\r\n`);
  socket.write(headerBlock);
  socket.write(`${body}\r\nPING\r\n`);
  await eventually(() => heard.includes("PONG"), { deadlineMs: 5000, what: "the raw publish" });
  socket.destroy();
}

describe.concurrent("what a stream may hold", () => {
  for (const [ordering, block] of [
    ["none", "NOPE/1.0\r\nA: b\r\n\r\n"],
    ["strict", "NOPE/1.0\r\nA: b\r\n\r\n"],
    ["none", "NATS/1.0\r\nA: \xff\xfe\r\n\r\n"],
    ["strict", "NATS/1.0\r\nA: \xff\xfe\r\n\r\n"],
  ] as const) {
    test(`FW-RUN-10 a header block that cannot be parsed is the fault of that message alone (${ordering}, ${block.slice(0, 8)})`, async () => {
      await using stage = await Stage.open(nats.url, { deadLetters: true });
      await stage.fill(3);
      await publishRaw(nats.port, stage.subject("a"), Buffer.from(block, "latin1"), "body");
      await eventually(async () => (await stage.streamState()).last_seq === 4, { deadlineMs: 5000, what: "the raw message" });
      await stage.fill(3);
      const sink = new RecordingSink();
      const summary = await runOnce(stage, sink, { delivery: { ordering } });
      expect(summary).toMatchObject({ stored: 6, deadLettered: 1, complete: true });
      const [letter] = await stage.deadLetters();
      expect(letter?.record).toMatchObject({ stream_sequence: 4, error_code: "headers_malformed" });
    });
  }

  test("empty bodies, withheld bodies, binary and large ones pass with their bytes", async () => {
    await using stage = await Stage.open(nats.url);
    const large = "é".repeat(400_000);
    const bodies = ["", "\u0000\u0001", large, "{}"];
    for (const body of bodies) await stage.publish("a", body);
    const sink = new RecordingSink();
    await runOnce(stage, sink);
    expect(sink.stored.toSorted((a, b) => a.sequence - b.sequence).map(({ text }) => text)).toEqual(bodies);
  });

  test("a poison whose dead letter is larger than the server takes and may not be cut is not lost: it is held, and the rest goes on", async () => {
    await using stage = await Stage.open(nats.url, { deadLetters: true });
    await stage.publish("a", "x".repeat(1_000_000));
    await stage.fill(3);
    const sink = new RecordingSink({ outcome: ({ sequence }) => (sequence === 1 ? new PermanentSinkError("bad row") : null) });
    await using pipeline = await startPipeline(stage, sink, { dead_letter: { oversize: "hold", format: "raw", max_bytes: 100_000 } });
    await eventually(() => pipeline.runner.status().held === 1, { deadlineMs: 15_000, what: "the message to be held" });
    await eventually(() => sink.distinct === 3, { deadlineMs: 5000, what: "the rest" });
    await eventually(async () => (await stage.consumerInfo()).num_ack_pending === 1, { deadlineMs: 5000, what: "the rest acknowledged" });
  });

  test("messages that are deleted under way leave no gap that anything waits for", async () => {
    await using stage = await Stage.open(nats.url);
    await stage.fill(40);
    for (const sequence of [3, 4, 5, 17, 40]) await stage.manager.streams.deleteMessage(stage.name, sequence);
    for (const ordering of ["none", "per_key", "strict"]) {
      const sink = new RecordingSink();
      const summary = await runOnce(stage, sink, { nats: { consumer: `c-${ordering}` }, delivery: { ordering, batch_size: 7 } });
      expect(summary).toMatchObject({ stored: 35, complete: true });
    }
  });
});

describe.concurrent("several runners and other clients", () => {
  test("FW-RUN-12 three runners share a consumer under ordering none: everything once, whoever takes it", async () => {
    await using stage = await Stage.open(nats.url);
    await stage.fill(1500);
    const sinks = [new RecordingSink(), new RecordingSink(), new RecordingSink()];
    const pipelines = await Promise.all(
      sinks.map((sink) => startPipeline(stage, sink, { delivery: { batch_size: 50, max_in_flight_batches: 1 } })),
    );
    await stage.settled();
    for (const pipeline of pipelines) await pipeline.stop();
    expect(sinks.flatMap((sink) => sink.order()).toSorted((a, b) => a - b)).toEqual(Array.from({ length: 1500 }, (_, index) => index + 1));
  });

  test("FW-RUN-15 a consumer whose ack_wait is lowered under way is still kept leased", async () => {
    await using stage = await Stage.open(nats.url);
    await using wire = await startWire(nats.port);
    const gate = closedGate();
    const sink = new RecordingSink({ during: (write, signal) => (write.sequences.includes(2) ? gate.passed(signal) : undefined) });
    await using _pipeline = await startPipeline(stage, sink, overWire(wire));
    await stage.fill(1);
    await stage.settled();
    const { config } = await stage.consumerInfo();
    await stage.manager.consumers.update(stage.name, stage.consumer, { ...config, ack_wait: 1e9 });
    const updatedAt = performance.now();
    const readings = () => wire.sent.filter(({ at, subject }) => at > updatedAt && subject.includes(".CONSUMER.INFO.")).length;
    // The second reading after the update proves that the first was answered.
    await eventually(() => readings() >= 2, { deadlineMs: 15_000, what: "two readings of the consumer" });
    await stage.fill(1);
    await eventually(() => sink.messagesInWrites === 1, { deadlineMs: 5000, what: "the long write" });
    const beganAt = performance.now();
    await eventually(() => performance.now() - beganAt > 2500, { deadlineMs: 10_000, what: "more than two new ack_waits" });
    gate.open();
    const info = await stage.settled();
    expect(info.delivered.consumer_seq).toBe(2);
  });

  test("FW-RUN-38 an ordered lane stands behind a held message, other lanes go on, and it goes on after a repair", async () => {
    await using stage = await Stage.open(nats.url);
    await stage.fill(12, (index) => (index % 2 === 0 ? "held" : "free"));
    let repaired = false;
    const sink = new RecordingSink({
      outcome: ({ sequence }) => (sequence === 3 && !repaired ? new TemporarySinkError("deadlock") : null),
    });
    const sections = {
      delivery: { ordering: "per_key", batch_size: 4, max_retries: 1, retry_backoff_ms: 10, retry_backoff_max_ms: 300 },
      consumer_management: { ack_wait_seconds: 1 },
    };
    await using pipeline = await startPipeline(stage, sink, sections);
    await eventually(() => sink.order(stage.subject("free")).length === 6 && sink.attempts(3) >= 4, {
      deadlineMs: 10_000,
      what: "the free key",
    });
    expect(sink.order(stage.subject("held"))).toEqual([1]);
    repaired = true;
    const info = await stage.settled();
    expect(sink.order(stage.subject("held"))).toEqual([1, 3, 5, 7, 9, 11]);
    expect(info.delivered.consumer_seq).toBe(12);
    expect(pipeline.runner.status()).toMatchObject({ held: 0, healthy: true });
  });

  test("FW-RUN-36 max_parked is a bound: one message more behind poison is an operator pause", async () => {
    await using stage = await Stage.open(nats.url, { deadLetters: true });
    const sink = new RecordingSink({ outcome: ({ sequence }) => (sequence === 1 ? new PermanentSinkError("bad row") : null) });
    const delivery = { ordering: "per_key", on_poison: "park_key", max_parked: 3, batch_size: 5 };
    await using pipeline = await startPipeline(stage, sink, { delivery });
    await stage.fill(3);
    await eventually(() => pipeline.runner.status().held === 3, { deadlineMs: 10_000, what: "three parked" });
    expect(pipeline.runner.status().healthy).toBe(true);
    await stage.fill(1);
    await eventually(() => pipeline.runner.status().reasons.join().includes("max_parked is reached"), {
      deadlineMs: 10_000,
      what: "the pause",
    });
    expect(await stage.deadLetters()).toEqual([]);
    expect(sink.distinct).toBe(0);
  });

  test("FW-RUN-36 parked messages go on in order when the pause or the poison is repaired", async () => {
    await using stage = await Stage.open(nats.url, { deadLetters: true });
    await stage.fill(5);
    let repaired = false;
    const sink = new RecordingSink({ outcome: ({ sequence }) => (sequence === 2 && !repaired ? new PermanentSinkError("bad row") : null) });
    await using pipeline = await startPipeline(stage, sink, { delivery: { ordering: "strict", on_poison: "park_key", batch_size: 2 } });
    await eventually(() => pipeline.runner.status().held === 4, { deadlineMs: 10_000, what: "four parked" });
    repaired = true;
    pipeline.runner.resume();
    await stage.settled();
    expect(sink.order()).toEqual([1, 2, 3, 4, 5]);
    expect(pipeline.runner.status().held).toBe(0);
  });
});
