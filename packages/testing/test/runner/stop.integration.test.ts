import { PermanentSinkError, TemporarySinkError } from "@sinks/core";
import { createRunner } from "@sinks/core/runtime";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { eventually } from "../../src/eventually.js";
import type { NatsServer } from "../../src/service/nats-server.js";
import { startNats } from "../../src/service/start-nats.js";
import { aborted, closedGate } from "./support/gate.js";
import { buildRunner, startPipeline } from "./support/pipeline.js";
import { RecordingSink } from "./support/recording-sink.js";
import { Stage } from "./support/stage.js";
import { overWire, startWire } from "./support/wire.js";

let nats: NatsServer;
beforeAll(async () => {
  nats = await startNats();
});
afterAll(() => nats[Symbol.asyncDispose]());

describe.concurrent("FW-RUN-28 drain", () => {
  test("a stop writes and settles everything received, sends no new pull, and stops the sink last", async () => {
    await using stage = await Stage.open(nats.url);
    await using wire = await startWire(nats.port);
    await stage.fill(300);
    const gate = closedGate();
    let storedAtStop = -1;
    const sink: RecordingSink = new RecordingSink({
      during: (_, signal) => gate.passed(signal),
      stop: () => {
        storedAtStop = sink.distinct;
      },
    });
    const pipeline = await startPipeline(
      stage,
      sink,
      overWire(wire, { delivery: { batch_size: 20, max_in_flight_batches: 2, max_messages_in_flight: 60 } }),
    );
    await eventually(() => pipeline.runner.status().inFlight === 60, { deadlineMs: 10_000, what: "a full flight" });
    const stopping = pipeline.stop();
    await eventually(() => pipeline.runner.status().state === "stopping", { deadlineMs: 5000, what: "the stop to begin", intervalMs: 1 });
    const pulls = wire.pulls().length;
    gate.open();
    const summary = await stopping;
    expect(summary).toMatchObject({ received: 60, stored: 60, complete: true });
    expect(storedAtStop).toBe(60);
    expect(wire.pulls()).toHaveLength(pulls);
    const info = await stage.consumerInfo();
    expect(info).toMatchObject({ num_ack_pending: 0, num_pending: 240, num_waiting: 0 });
    expect(info.ack_floor.stream_seq).toBe(60);
    expect(wire.verbs("nak")).toEqual([]);
  });

  test("what an open pull still brings is handled like the rest", async () => {
    await using stage = await Stage.open(nats.url);
    const sink = new RecordingSink();
    const pipeline = await startPipeline(stage, sink, { delivery: { batch_timeout_ms: 3000 } });
    await eventually(async () => (await stage.consumerInfo()).num_waiting > 0, { deadlineMs: 5000, what: "an open pull" });
    const stopping = pipeline.stop();
    await stage.fill(5);
    const summary = await stopping;
    const info = await stage.consumerInfo();
    // Whatever was delivered is settled; nothing is stranded until ack_wait.
    expect(info.num_ack_pending).toBe(0);
    expect(info.delivered.stream_seq).toBe(summary.stored);
    expect(summary.stored).toBe(5);
  });

  test("a message whose retry is due within the time is tried before the end", async () => {
    await using stage = await Stage.open(nats.url);
    await stage.fill(3);
    const sink = new RecordingSink({
      outcome: ({ sequence, attempt }) => (sequence === 2 && attempt <= 2 ? new TemporarySinkError("deadlock") : null),
    });
    const pipeline = await startPipeline(stage, sink, { delivery: { ordering: "strict", batch_size: 1, retry_backoff_ms: 200 } });
    await eventually(() => sink.attempts(2) === 1, { deadlineMs: 10_000, what: "the failure" });
    expect(await pipeline.stop()).toMatchObject({ stored: 3 });
    expect(sink.order()).toEqual([1, 2, 3]);
    expect((await stage.consumerInfo()).num_ack_pending).toBe(0);
  });

  test("what is unstarted at half of the time is nak'd without delay, and another runner gets it at once", async () => {
    await using stage = await Stage.open(nats.url);
    await using wire = await startWire(nats.port);
    await stage.fill(30);
    const gate = closedGate();
    const sink = new RecordingSink({ during: (_, signal) => gate.passed(signal) });
    const delivery = { batch_size: 10, max_in_flight_batches: 1, max_messages_in_flight: 30, shutdown_timeout_ms: 2000 };
    const pipeline = await startPipeline(stage, sink, overWire(wire, { delivery }));
    await eventually(() => pipeline.runner.status().inFlight === 30, { deadlineMs: 10_000, what: "a full flight" });
    const began = performance.now();
    const stopping = pipeline.stop();
    await eventually(() => wire.verbs("nak").length === 20, { deadlineMs: 10_000, what: "the unstarted to be given back", intervalMs: 5 });
    const naks = wire.verbs("nak");
    expect(Math.min(...naks.map(({ at }) => at)) - began).toBeGreaterThanOrEqual(990);
    expect(naks.map(({ sequence, delayMs }) => [sequence, delayMs])).toEqual(Array.from({ length: 20 }, (_, index) => [index + 11, null]));
    gate.open();
    expect(await stopping).toMatchObject({ stored: 10 });
    const next = new RecordingSink();
    await using _next = await startPipeline(stage, next);
    // Far below ack_wait, which is 30 s.
    await eventually(() => next.distinct === 20, { deadlineMs: 5000, what: "the next runner to have them" });
    expect(next.missing(30, 11)).toEqual([]);
  });

  test("a last delivery is never given back: nothing would bring it again", async () => {
    await using stage = await Stage.open(nats.url);
    await using wire = await startWire(nats.port);
    await stage.addConsumer({ max_deliver: 2 });
    await stage.fill(2);
    const consumer = await stage.client.consumers.get(stage.name, stage.consumer);
    (await consumer.next({ expires: 3000 }))?.nak();
    const gate = closedGate();
    const sink = new RecordingSink({ during: () => gate.passed() });
    const delivery = { batch_size: 1, max_in_flight_batches: 1, max_messages_in_flight: 2, shutdown_timeout_ms: 1000 };
    const pipeline = await startPipeline(stage, sink, overWire(wire, { delivery }));
    await eventually(() => pipeline.runner.status().inFlight === 2, { deadlineMs: 10_000, what: "both" });
    const writing = sink.writes[0]?.sequences[0];
    const stopping = pipeline.stop();
    const naks = () => wire.verbs("nak").map(({ sequence, deliveryCount }) => [sequence, deliveryCount]);
    if (writing === 2) {
      // Sequence 1 waits with its second and last delivery: half-time passes without a nak of it.
      await eventually(() => performance.now() > (sink.writes[0]?.startedAt ?? 0) + 700, { deadlineMs: 5000, what: "half-time" });
      expect(naks()).toEqual([]);
    } else {
      await eventually(() => naks().length === 1, { deadlineMs: 5000, what: "the other to be given back" });
      expect(naks()).toEqual([[2, 1]]);
    }
    gate.open();
    await stopping;
    expect(sink.copies(1)).toBe(1);
  });

  test("held messages and an operator pause do not hold up the stop", async () => {
    await using stage = await Stage.open(nats.url);
    await stage.fill(3);
    const sink = new RecordingSink({ outcome: () => new PermanentSinkError("bad row") });
    const pipeline = await startPipeline(stage, sink, {
      delivery: { shutdown_timeout_ms: 60_000 },
      dead_letter: { when_disabled: "stop" },
    });
    await eventually(() => !pipeline.runner.status().healthy, { deadlineMs: 10_000, what: "the pause" });
    const began = performance.now();
    await pipeline.stop();
    expect(performance.now() - began).toBeLessThan(10_000);
    const next = new RecordingSink();
    await using _next = await startPipeline(stage, next);
    await eventually(() => next.distinct === 3, { deadlineMs: 5000, what: "the next runner to have them at once" });
  });

  test("the signal handed to run stops it in the same way", async () => {
    await using stage = await Stage.open(nats.url);
    await stage.fill(10);
    const sink = new RecordingSink();
    const { runner } = buildRunner(stage, sink);
    await runner.start();
    const abort = new AbortController();
    const ended = runner.run(abort.signal);
    await stage.settled();
    abort.abort();
    expect(await ended).toMatchObject({ stored: 10, complete: true, reason: null });
    expect(runner.status().state).toBe("stopped");
    expect(sink.stopped).toBe(1);
  });
});

describe.concurrent("FW-RUN-29 abort and grace", () => {
  test("at shutdown_timeout_ms every write gets the abort signal; what it says within the grace is settled", async () => {
    await using stage = await Stage.open(nats.url);
    await stage.fill(4);
    const sink = new RecordingSink({ during: (_, signal) => aborted(signal).catch(() => undefined) });
    const pipeline = await startPipeline(stage, sink, {
      delivery: { batch_size: 2, linger_ms: 500, max_in_flight_batches: 2, shutdown_timeout_ms: 600, abort_grace_ms: 5000 },
    });
    await eventually(() => sink.messagesInWrites === 4, { deadlineMs: 10_000, what: "two writes" });
    const began = performance.now();
    expect(await pipeline.stop()).toMatchObject({ stored: 4 });
    expect(performance.now() - began).toBeGreaterThanOrEqual(590);
    expect(sink.writes.map((write) => write.aborted)).toEqual([true, true]);
    expect((await stage.consumerInfo()).num_ack_pending).toBe(0);
  });

  test("a write that ignores the abort is left after the grace, and nothing is acked for it, then or later", async () => {
    await using stage = await Stage.open(nats.url);
    await using wire = await startWire(nats.port);
    await stage.fill(3);
    const gate = closedGate();
    const sink = new RecordingSink({ during: () => gate.passed() });
    const delivery = { batch_size: 3, linger_ms: 500, shutdown_timeout_ms: 300, abort_grace_ms: 300 };
    const pipeline = await startPipeline(stage, sink, overWire(wire, { delivery, consumer_management: { ack_wait_seconds: 1 } }));
    await eventually(() => sink.messagesInWrites === 3, { deadlineMs: 10_000, what: "the write" });
    const began = performance.now();
    expect(await pipeline.stop()).toMatchObject({ received: 3, stored: 0 });
    const took = performance.now() - began;
    expect(took).toBeGreaterThanOrEqual(590);
    expect(took).toBeLessThan(8000);
    expect(sink.stopped).toBe(1);
    gate.open();
    await eventually(() => sink.distinct === 3, { deadlineMs: 5000, what: "the late success" });
    const info = await stage.consumerInfo();
    expect(info.ack_floor.stream_seq).toBe(0);
    expect(info.num_ack_pending + info.num_pending).toBe(3);
    expect(wire.verbs("ack")).toEqual([]);
    const next = new RecordingSink();
    await using _next = await startPipeline(stage, next);
    await stage.settled();
    expect(next.missing(3)).toEqual([]);
  });

  test("an unordered message that failed and was given back is not lost by the stop", async () => {
    await using stage = await Stage.open(nats.url);
    await stage.fill(20);
    const sink = new RecordingSink({ outcome: ({ sequence }) => (sequence % 2 === 0 ? new TemporarySinkError("deadlock") : null) });
    const pipeline = await startPipeline(stage, sink, {
      delivery: { retry_backoff_ms: 300, retry_backoff_max_ms: 300, max_retries: 1000 },
    });
    await eventually(() => sink.distinct === 10, { deadlineMs: 10_000, what: "the odd ones" });
    await pipeline.stop();
    const next = new RecordingSink();
    await using _next = await startPipeline(stage, next);
    await stage.settled();
    const everywhere = new Set([...sink.order(), ...next.order()]);
    expect(everywhere.size).toBe(20);
  });
});

describe.concurrent("FW-RUN-30 clocks", () => {
  test("a wall clock that is set back and forth costs no lease, no retry and no message", async () => {
    await using stage = await Stage.open(nats.url);
    await stage.fill(20);
    let calls = 0n;
    const clock = {
      now: () => performance.now(),
      // An hour back, an hour forth, at every reading.
      nowNs: () => {
        calls += 1n;
        return BigInt(Date.now()) * 1_000_000n + (calls % 2n === 0n ? 3_600_000_000_000n : -3_600_000_000_000n);
      },
      random: Math.random,
    };
    const sink = new RecordingSink({
      outcome: ({ sequence, attempt }) => (sequence === 3 && attempt === 1 ? new TemporarySinkError("deadlock") : null),
    });
    const configuration = stage.configuration({ consumer_management: { ack_wait_seconds: 1 } });
    const runner = createRunner({ configuration, createSink: sink.create, once: true, onceTimeoutMs: 20_000 }, clock);
    await runner.start();
    expect(await runner.run()).toMatchObject({ stored: 20, complete: true });
    expect((await stage.consumerInfo()).delivered.consumer_seq).toBe(21);
    const ages = sink.writes
      .flatMap(({ attempts }) => attempts)
      .map(({ envelope }) => envelope.metadataForJsonStorage().freshness.event_age_at_receive_seconds);
    expect(ages.every((age) => age === null || Number(age) >= 0)).toBe(true);
  });
});
