import { TemporarySinkError } from "@sinks/core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { eventually } from "../../src/eventually.js";
import type { NatsServer } from "../../src/service/nats-server.js";
import { startNats } from "../../src/service/start-nats.js";
import { closedGate } from "./support/gate.js";
import { startPipeline } from "./support/pipeline.js";
import { RecordingSink } from "./support/recording-sink.js";
import { Stage } from "./support/stage.js";
import { overWire, startWire, watchAcks } from "./support/wire.js";

let nats: NatsServer;
beforeAll(async () => {
  nats = await startNats();
});
afterAll(() => nats[Symbol.asyncDispose]());

/** Lets other work of the loop run once. */
const turn = () => new Promise<void>((done) => setImmediate(done));

describe.concurrent("FW-RUN-25 FW-RUN-33 connections that break", () => {
  for (const ack_mode of ["plain", "batch_confirmed", "confirmed"]) {
    test(`cut again and again during writes and acks (${ack_mode}): nothing lost, nothing acked early`, async () => {
      await using stage = await Stage.open(nats.url, { deadLetters: true });
      await using wire = await startWire(nats.port);
      const count = 1500;
      await stage.fill(count);
      const sink = new RecordingSink({
        during: turn,
        outcome: ({ sequence, attempt }) => (sequence % 97 === 0 && attempt === 1 ? new TemporarySinkError("deadlock") : null),
      });
      const early = watchAcks(wire, (sequence) => sink.copies(sequence) > 0);
      const sections = {
        delivery: { ack_mode, batch_size: 25, max_retries: 1000, ack_confirmation: { timeout_ms: 500 } },
        consumer_management: { ack_wait_seconds: 2 },
      };
      await using pipeline = await startPipeline(stage, sink, overWire(wire, sections));
      for (let cuts = 1; cuts <= 6; cuts += 1) {
        const goal = Math.min(count, cuts * 180);
        await eventually(() => sink.distinct >= goal, { deadlineMs: 20_000, what: `${goal} stored`, intervalMs: 1 });
        wire.proxy.cut();
        await eventually(() => pipeline.telemetry.texts("info").filter((text) => text === "connected again").length >= cuts, {
          deadlineMs: 10_000,
          what: `reconnect ${cuts}`,
          intervalMs: 5,
        });
      }
      await stage.settled(40_000);
      expect(sink.missing(count)).toEqual([]);
      expect(early).toEqual([]);
      expect(await stage.deadLetters()).toEqual([]);
      await eventually(() => pipeline.runner.status().healthy, { deadlineMs: 10_000, what: "green health" });
    });
  }

  test("a connection on which nothing moves: nothing is lost, and it goes on when bytes flow again", async () => {
    await using stage = await Stage.open(nats.url);
    await using wire = await startWire(nats.port);
    await stage.fill(400);
    const sink = new RecordingSink({ during: turn });
    const sections = { delivery: { batch_size: 10, ack_confirmation: { timeout_ms: 200 } }, consumer_management: { ack_wait_seconds: 1 } };
    await using _pipeline = await startPipeline(stage, sink, overWire(wire, sections));
    await eventually(() => sink.distinct >= 50, { deadlineMs: 10_000, what: "the first ones", intervalMs: 1 });
    wire.proxy.hold();
    const heldAt = performance.now();
    await eventually(() => performance.now() - heldAt > 1500, { deadlineMs: 10_000, what: "leases to run out" });
    await wire.proxy.pass();
    await stage.settled(30_000);
    expect(sink.missing(400)).toEqual([]);
  });

  test("requests that arrive while their answers are lost: acks are confirmed again after the reset", async () => {
    await using stage = await Stage.open(nats.url);
    await using wire = await startWire(nats.port);
    await stage.fill(30);
    const gate = closedGate();
    const sink = new RecordingSink({ during: (_, signal) => gate.passed(signal) });
    const delivery = { batch_size: 30, linger_ms: 500, ack_confirmation: { timeout_ms: 300 } };
    await using pipeline = await startPipeline(stage, sink, overWire(wire, { delivery }));
    await eventually(() => sink.messagesInWrites === 30, { deadlineMs: 10_000, what: "the write" });
    wire.proxy.dropReplies();
    gate.open();
    await eventually(() => pipeline.telemetry.counter("unconfirmed_acks_total") >= 30, {
      deadlineMs: 10_000,
      what: "an unconfirmed batch",
    });
    await wire.proxy.pass();
    const info = await stage.settled();
    expect(info.delivered.consumer_seq).toBe(30);
    expect(sink.stored).toHaveLength(30);
    await eventually(() => pipeline.runner.status().healthy, { deadlineMs: 10_000, what: "green health" });
  });

  test("FW-RUN-06 a connection that the client gives up for good is built anew", async () => {
    await using stage = await Stage.open(nats.url);
    await using wire = await startWire(nats.port);
    await stage.fill(20);
    const sink = new RecordingSink();
    const sections = { nats: { max_reconnect_attempts: 2, reconnect_time_wait_seconds: 0.02 } };
    await using pipeline = await startPipeline(stage, sink, overWire(wire, sections));
    await stage.settled();
    await wire.proxy.refuse();
    wire.proxy.cut();
    await eventually(() => pipeline.telemetry.texts("warn").filter((text) => text === "cannot connect again").length >= 2, {
      deadlineMs: 15_000,
      what: "the client to have given up",
    });
    expect(pipeline.runner.status().reasons.join()).toContain("disconnected");
    await stage.fill(20);
    await wire.proxy.pass();
    await eventually(() => sink.distinct === 40, { deadlineMs: 15_000, what: "the rest" });
    const info = await stage.settled();
    expect(info.delivered.consumer_seq).toBe(40);
    await eventually(() => pipeline.runner.status().healthy, { deadlineMs: 10_000, what: "green health" });
  });

  test("FW-RUN-06 heartbeats of a pull that stop coming lead to a check and a new pull", async () => {
    await using stage = await Stage.open(nats.url);
    await using wire = await startWire(nats.port);
    const sink = new RecordingSink();
    await using pipeline = await startPipeline(stage, sink, overWire(wire));
    await eventually(async () => (await stage.consumerInfo()).num_waiting > 0, { deadlineMs: 10_000, what: "an open pull" });
    // Everything of the pulls is lost, answers of the API pass.
    let deaf = true;
    const inboxes = () => new Set(wire.sent.filter(({ subject }) => subject.includes(".MSG.NEXT.")).map(({ reply }) => reply));
    wire.dropToClient = (frame) => deaf && frame.subject !== null && inboxes().has(frame.subject);
    await eventually(() => pipeline.telemetry.events.some(({ fields }) => fields["reason"] === "missed heartbeat"), {
      deadlineMs: 15_000,
      what: "the silence to be noticed",
    });
    deaf = false;
    await stage.fill(5);
    await eventually(() => sink.distinct === 5, { deadlineMs: 15_000, what: "messages again" });
    await stage.settled();
  });

  test("a stop while the server cannot be reached ends within its bounds", async () => {
    await using stage = await Stage.open(nats.url);
    await using wire = await startWire(nats.port);
    await stage.fill(10);
    const gate = closedGate();
    const sink = new RecordingSink({ during: (_, signal) => gate.passed(signal) });
    const delivery = { shutdown_timeout_ms: 1000, abort_grace_ms: 500, batch_size: 10, linger_ms: 300 };
    const pipeline = await startPipeline(stage, sink, overWire(wire, { delivery, consumer_management: { ack_wait_seconds: 1 } }));
    await eventually(() => sink.messagesInWrites === 10, { deadlineMs: 10_000, what: "the write" });
    await wire.proxy.refuse();
    wire.proxy.cut();
    gate.open();
    const began = performance.now();
    await pipeline.stop();
    expect(performance.now() - began).toBeLessThan(8000);
    expect(sink.stopped).toBe(1);
    // Written, not acked: they come again to the next process.
    const next = new RecordingSink();
    await using _next = await startPipeline(stage, next);
    await stage.settled();
    expect(next.missing(10)).toEqual([]);
  });
});
