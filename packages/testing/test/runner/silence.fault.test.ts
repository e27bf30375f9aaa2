import { createInbox } from "@nats-io/transport-node";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { eventually } from "../../src/eventually.js";
import type { NatsServer } from "../../src/service/nats-server.js";
import { startNats } from "../../src/service/start-nats.js";
import { closedGate } from "./support/gate.js";
import { green, red } from "./support/health.js";
import { startPipeline } from "./support/pipeline.js";
import { RecordingSink } from "./support/recording-sink.js";
import { Stage } from "./support/stage.js";
import { overWire, startWire } from "./support/wire.js";

let nats: NatsServer;
beforeAll(async () => {
  nats = await startNats();
});
afterAll(() => nats[Symbol.asyncDispose]());

/** A pull is open on the server. */
const pullIsOpen = (stage: Stage) =>
  eventually(async () => (await stage.consumerInfo()).num_waiting > 0, { deadlineMs: 10_000, what: "an open pull", intervalMs: 5 });

describe.concurrent("FW-RUN-06 silence is not idleness", () => {
  for (const gone of ["server", "client"] as const) {
    test(`a half-open connection (the ${gone} is gone without a word): red, replaced, and nothing is lost`, async () => {
      await using stage = await Stage.open(nats.url);
      await using wire = await startWire(nats.port);
      await stage.fill(10);
      const sink = new RecordingSink();
      const sections = { consumer_management: { ack_wait_seconds: 1 } };
      await using pipeline = await startPipeline(stage, sink, overWire(wire, sections));
      await stage.settled();
      await pullIsOpen(stage);
      wire.proxy.halfOpen(gone);
      await stage.fill(10);
      // By a look of ours that nobody answers, long before the client's own pings; at once when the end is told.
      await eventually(() => pipeline.telemetry.texts("warn").includes("connection lost"), {
        deadlineMs: 20_000,
        what: "the loss to be noticed",
      });
      await eventually(() => sink.distinct === 20, { deadlineMs: 15_000, what: "the rest over another connection" });
      await stage.settled();
      await green(pipeline);
    });
  }

  test("a connection on which nothing moves is red after two heartbeats of a pull, however seldom the client pings", async () => {
    await using stage = await Stage.open(nats.url);
    await using wire = await startWire(nats.port);
    const sink = new RecordingSink();
    const sections = { nats: { ping_interval_seconds: 600 }, delivery: { batch_timeout_ms: 1000 } };
    await using pipeline = await startPipeline(stage, sink, overWire(wire, sections));
    await pullIsOpen(stage);
    wire.proxy.hold();
    const heldAt = performance.now();
    await red(pipeline, "silent");
    // Two heartbeats of 500 ms, and what the looks in between take on a busy machine.
    expect(performance.now() - heldAt).toBeLessThan(2 * 500 + 1000);
    expect(pipeline.runner.status()).toMatchObject({ state: "running", healthy: false });
    await stage.fill(5);
    await wire.proxy.pass();
    await eventually(() => sink.distinct === 5, { deadlineMs: 10_000, what: "the messages" });
    await stage.settled();
    await green(pipeline);
  });

  test("a server that does not answer pulls, because max_waiting is reached: red silent until it does", async () => {
    await using stage = await Stage.open(nats.url);
    // What the other client may still get comes again soon.
    await stage.addConsumer({ max_waiting: 1, ack_wait: 1e9 });
    // Another client takes the only place, for a while; the server says nothing to the next one.
    const inbox = createInbox();
    stage.connection.subscribe(inbox);
    const request = JSON.stringify({ batch: 1, expires: 5e9 });
    stage.connection.publish(`$JS.API.CONSUMER.MSG.NEXT.${stage.name}.${stage.consumer}`, request, { reply: inbox });
    await pullIsOpen(stage);
    const sink = new RecordingSink();
    await using pipeline = await startPipeline(stage, sink);
    await red(pipeline, "silent");
    expect(pipeline.runner.status().reasons.join()).toContain("max_waiting is used up");
    await green(pipeline);
    await stage.fill(5);
    await eventually(() => sink.distinct === 5, { deadlineMs: 15_000, what: "the messages" });
    await stage.settled();
  });

  test("409 of a request limit that is set under way: the reason is told", async () => {
    await using stage = await Stage.open(nats.url);
    await stage.fill(20);
    const sink = new RecordingSink();
    await using pipeline = await startPipeline(stage, sink);
    await stage.settled();
    await stage.manager.consumers.update(stage.name, stage.consumer, { max_batch: 1 });
    await red(pipeline, "pull_refused");
    // Refused pulls are not repeated in a tight loop.
    expect(pipeline.telemetry.texts("warn").filter((text) => text.startsWith("pull refused")).length).toBeLessThan(4);
    await stage.manager.consumers.update(stage.name, stage.consumer, { max_batch: 0 });
    await stage.fill(20);
    await eventually(() => sink.distinct === 40, { deadlineMs: 15_000, what: "the rest" });
    await green(pipeline);
  });

  test("FW-RUN-04 FW-RUN-38 max_ack_pending lowered and raised under way: red window_full, the flight follows, nothing is lost", async () => {
    await using stage = await Stage.open(nats.url);
    await stage.fill(200);
    const gate = closedGate();
    const sink = new RecordingSink({ during: (_, signal) => gate.passed(signal) });
    const delivery = { batch_size: 10, max_in_flight_batches: 2, max_messages_in_flight: 100 };
    await using pipeline = await startPipeline(stage, sink, { delivery });
    await eventually(() => pipeline.runner.status().inFlight === 100, { deadlineMs: 10_000, what: "a full flight" });
    await stage.manager.consumers.update(stage.name, stage.consumer, { max_ack_pending: 20 });
    await red(pipeline, "window_full");
    gate.open();
    await eventually(() => sink.distinct === 200, { deadlineMs: 15_000, what: "all within the small window" });
    await stage.settled();
    await green(pipeline);
    const late = closedGate();
    sink.plan.during = (_, signal) => late.passed(signal);
    await stage.fill(100);
    await eventually(async () => (await stage.consumerInfo()).num_ack_pending === 20, { deadlineMs: 10_000, what: "the small window" });
    expect(pipeline.runner.status().inFlight).toBeLessThanOrEqual(20);
    await stage.manager.consumers.update(stage.name, stage.consumer, { max_ack_pending: 1000 });
    await eventually(() => pipeline.runner.status().inFlight === 100, { deadlineMs: 15_000, what: "the full flight again" });
    late.open();
    await stage.settled();
    expect(sink.stored).toHaveLength(300);
  });
});
