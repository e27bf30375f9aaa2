import { NotAttemptedError, PermanentSinkError, TemporarySinkError, UnknownOutcomeError } from "@sinks/core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { eventually } from "../../src/eventually.js";
import type { NatsServer } from "../../src/service/nats-server.js";
import { startNats } from "../../src/service/start-nats.js";
import { closedGate } from "./support/gate.js";
import { green, red } from "./support/health.js";
import { buildRunner, runOnce, startPipeline } from "./support/pipeline.js";
import { RecordingSink, type SinkPlan } from "./support/recording-sink.js";
import { Stage } from "./support/stage.js";
import { overWire, startWire } from "./support/wire.js";

let nats: NatsServer;
beforeAll(async () => {
  nats = await startNats();
});
afterAll(() => nats[Symbol.asyncDispose]());

const upTo = (count: number): number[] => Array.from({ length: count }, (_, index) => index + 1);
const temporary = () => new TemporarySinkError("deadlock");

/** Every third sequence fails twice before it is taken. */
const everyThirdTwice: NonNullable<SinkPlan["outcome"]> = ({ sequence, attempt }) =>
  sequence % 3 === 0 && attempt <= 2 ? temporary() : null;

/** Lanes that were in two writes at the same time. */
function overlaps(sink: RecordingSink): number[] {
  const found: number[] = [];
  for (const write of sink.writes) {
    for (const other of sink.writes) {
      const together = other.number > write.number && other.startedAt < (write.endedAt ?? Number.POSITIVE_INFINITY);
      if (together) found.push(...(write.lanes ?? []).filter((lane) => other.lanes?.includes(lane)));
    }
  }
  return found;
}

describe.concurrent("FW-RUN-12 orders", () => {
  for (const orderedBatches of [true, undefined] as const) {
    const kind = orderedBatches === true ? "a sink that keeps order inside a batch" : "a sink that does not";
    test(`strict: one lane, one batch at a time, in stream order, for ${kind}`, async () => {
      await using stage = await Stage.open(nats.url);
      await stage.fill(60, (index) => `k${index % 5}`);
      const sink = new RecordingSink({ outcome: everyThirdTwice, ...(orderedBatches === undefined ? {} : { orderedBatches }) });
      const summary = await runOnce(stage, sink, { delivery: { ordering: "strict", batch_size: 20, retry_backoff_ms: 1 } });
      expect(summary).toMatchObject({ received: 60, stored: 60, complete: true });
      expect(sink.order()).toEqual(upTo(60));
      expect(sink.peakWrites).toBe(1);
      expect(sink.writes.every(({ ordered }) => ordered)).toBe(true);
      const largest = Math.max(...sink.writes.map(({ sequences }) => sequences.length));
      expect(largest).toBe(orderedBatches === true ? 20 : 1);
    });
  }

  for (const [orderKey, keyOf] of [
    ["subject", (index: number) => ({ tail: `k${index % 4}`, headers: {} })],
    ["header:Order-Key", (index: number) => ({ tail: "a", headers: { "Order-Key": `k${index % 4}` } })],
    ["subject_token:4", (index: number) => ({ tail: `r${index}.k${index % 4}`, headers: {} })],
  ] as const) {
    test(`per_key by ${orderKey}: a key has one writer and its own order, keys run side by side`, async () => {
      await using stage = await Stage.open(nats.url);
      const count = 48;
      for (let index = 0; index < count; index += 1) {
        const { tail, headers } = keyOf(index);
        await stage.publish(tail, "x", headers);
      }
      const sink = new RecordingSink({ outcome: everyThirdTwice, during: () => new Promise((done) => setImmediate(done)) });
      const delivery = { ordering: "per_key", order_key: orderKey, batch_size: 2, max_in_flight_batches: 4, retry_backoff_ms: 1 };
      await runOnce(stage, sink, { delivery });
      expect(sink.stored).toHaveLength(count);
      for (let key = 0; key < 4; key += 1) {
        const ofKey = upTo(count).filter((sequence) => (sequence - 1) % 4 === key);
        expect(sink.order().filter((sequence) => ofKey.includes(sequence))).toEqual(ofKey);
      }
      expect(overlaps(sink)).toEqual([]);
      expect(sink.peakWrites).toBeGreaterThan(1);
      expect(new Set(sink.writes.flatMap(({ lanes }) => lanes ?? [])).size).toBeGreaterThan(1);
    });
  }

  test("messages without the key share one lane, others are not held up by it", async () => {
    await using stage = await Stage.open(nats.url);
    for (let index = 0; index < 10; index += 1) await stage.publish("a", "x");
    await stage.publish("a", "keyed", { "Order-Key": "one" });
    const gate = closedGate();
    const sink = new RecordingSink({ during: (write, signal) => (write.sequences.includes(1) ? gate.passed(signal) : undefined) });
    await using _pipeline = await startPipeline(stage, sink, {
      delivery: { ordering: "per_key", order_key: "header:Order-Key", batch_size: 1, max_messages_in_flight: 20 },
    });
    await eventually(() => sink.copies(11) === 1, { deadlineMs: 10_000, what: "the keyed message" });
    expect(sink.order()).toEqual([11]);
    gate.open();
    await stage.settled();
    expect(sink.order()).toEqual([11, ...upTo(10)]);
  });

  test("none: a message that fails holds up nobody", async () => {
    await using stage = await Stage.open(nats.url);
    await stage.fill(20);
    const sink = new RecordingSink({ outcome: ({ sequence, attempt }) => (sequence === 1 && attempt === 1 ? temporary() : null) });
    await using _pipeline = await startPipeline(stage, sink, {
      delivery: { ordering: "none", batch_size: 1, retry_backoff_ms: 800, retry_backoff_max_ms: 800 },
    });
    await stage.settled();
    expect(sink.order().at(-1)).toBe(1);
    expect(sink.writes.every(({ lanes, ordered }) => lanes === null && !ordered)).toBe(true);
  });

  test("an ordered runner takes a pinned priority group, a second one waits as standby and goes on when it unpins", async () => {
    await using stage = await Stage.open(nats.url);
    await stage.fill(5);
    const first = new RecordingSink();
    const second = new RecordingSink();
    const sections = { delivery: { ordering: "strict" } };
    const one = await startPipeline(stage, first, sections);
    await stage.settled();
    const { config } = await stage.consumerInfo();
    expect(config).toMatchObject({ priority_policy: "pinned_client", priority_timeout: 3e9 });
    expect(config.priority_groups).toHaveLength(1);
    await using _two = await startPipeline(stage, second, sections);
    await stage.fill(5);
    await eventually(() => first.distinct === 10, { deadlineMs: 10_000, what: "the first to take all" });
    expect(second.writes).toEqual([]);
    await one.stop();
    await stage.fill(5);
    await eventually(() => second.distinct === 5, { deadlineMs: 10_000, what: "the second to go on" });
    expect(second.order()).toEqual([11, 12, 13, 14, 15]);
  });
});

describe.concurrent("FW-RUN-13 lanes", () => {
  test("a failure is retried in place: no redelivery, nothing of its key overtakes, other keys go on", async () => {
    await using stage = await Stage.open(nats.url);
    await using wire = await startWire(nats.port);
    await stage.fill(20, (index) => (index % 2 === 0 ? "slow" : "quick"));
    const sink = new RecordingSink({ outcome: ({ sequence, attempt }) => (sequence === 1 && attempt <= 4 ? temporary() : null) });
    const delivery = { ordering: "per_key", batch_size: 4, retry_backoff_ms: 60, retry_backoff_mode: "fixed" };
    await using pipeline = await startPipeline(stage, sink, overWire(wire, { delivery }));
    await stage.settled();
    expect(sink.order(stage.subject("slow"))).toEqual(upTo(20).filter((sequence) => sequence % 2 === 1));
    expect(sink.order(stage.subject("quick"))).toEqual(upTo(20).filter((sequence) => sequence % 2 === 0));
    expect(sink.order().indexOf(20)).toBeLessThan(sink.order().indexOf(1));
    expect(sink.attempts(1)).toBe(5);
    expect(wire.verbs("nak")).toEqual([]);
    expect(sink.writes.flatMap(({ attempts }) => attempts).every(({ deliveryCount }) => deliveryCount === 1)).toBe(true);
    expect(pipeline.runner.status().retried).toBe(4);
  });

  test("a lane goes on once its message is dead-lettered", async () => {
    await using stage = await Stage.open(nats.url, { deadLetters: true });
    await stage.fill(6);
    const sink = new RecordingSink({ outcome: ({ sequence }) => (sequence === 2 ? new PermanentSinkError("bad row") : null) });
    const summary = await runOnce(stage, sink, { delivery: { ordering: "strict" } });
    expect(summary).toMatchObject({ stored: 5, deadLettered: 1, complete: true });
    expect(sink.order()).toEqual([1, 3, 4, 5, 6]);
  });

  test("an unknown outcome that may not be repeated is left to redelivery, and its lane waits for it", async () => {
    await using stage = await Stage.open(nats.url);
    await stage.fill(12, (index) => (index % 2 === 0 ? "a" : "b"));
    const sink = new RecordingSink({
      retrySafety: "unsafe",
      outcome: ({ sequence, attempt }) => (sequence === 3 && attempt === 1 ? new UnknownOutcomeError("connection reset") : null),
    });
    await using _pipeline = await startPipeline(stage, sink, { delivery: { ordering: "per_key", batch_size: 4, retry_backoff_ms: 50 } });
    await stage.settled();
    expect(sink.order(stage.subject("a"))).toEqual([1, 3, 5, 7, 9, 11]);
    expect(sink.order(stage.subject("b"))).toEqual([2, 4, 6, 8, 10, 12]);
    expect(sink.stored).toHaveLength(12);
    const again = sink.writes.flatMap(({ attempts }) => attempts).filter(({ sequence }) => sequence === 3);
    expect(again.map(({ deliveryCount }) => deliveryCount)).toEqual([1, 2]);
  });

  test("a lease that is lost while a message waits: it and all behind it come again, in order", async () => {
    await using stage = await Stage.open(nats.url);
    await using wire = await startWire(nats.port);
    await stage.fill(10);
    wire.dropToServer = (frame) => frame.payload.equals(Buffer.from("+WPI"));
    const sink = new RecordingSink({ outcome: ({ sequence, attempt }) => (sequence === 2 && attempt === 1 ? temporary() : null) });
    await using pipeline = await startPipeline(
      stage,
      sink,
      overWire(wire, {
        delivery: {
          ordering: "strict",
          batch_size: 4,
          retry_backoff_ms: 1600,
          retry_backoff_max_ms: 1600,
          in_progress: { enabled: false },
        },
        consumer_management: { ack_wait_seconds: 1 },
      }),
    );
    await stage.settled();
    expect(sink.order()).toEqual(upTo(10));
    // Noticed by our clock or by the sequence delivered again, whichever came first.
    const { telemetry } = pipeline;
    expect(telemetry.counter("lost_leases_total") + telemetry.counter("redelivered_while_held_total")).toBeGreaterThan(0);
    expect((await stage.consumerInfo()).num_redelivered).toBe(0);
    expect(sink.stored).toHaveLength(10);
  });

  for (const ordering of ["strict", "per_key"]) {
    test(`after a crash messages beyond the last delivered wait until the earlier deliveries have come again (${ordering})`, async () => {
      await using stage = await Stage.open(nats.url);
      await using wire = await startWire(nats.port);
      await stage.fill(8);
      const sections = {
        delivery: { ordering, batch_size: 4, shutdown_timeout_ms: 0, abort_grace_ms: 0 },
        consumer_management: { ack_wait_seconds: 2 },
      };
      const first = new RecordingSink({ during: (write) => (write.sequences.includes(3) ? new Promise(() => undefined) : undefined) });
      const one = await startPipeline(stage, first, overWire(wire, sections));
      await eventually(async () => first.distinct === 2 && (await stage.consumerInfo()).num_ack_pending === 6, {
        deadlineMs: 10_000,
        what: "the first process to be in its third message",
      });
      // The process dies: nothing it sends at its end arrives.
      await wire.proxy.refuse();
      wire.proxy.cut();
      await one.stop();
      await stage.fill(4);
      const second = new RecordingSink();
      await using _two = await startPipeline(stage, second, sections);
      await stage.settled();
      expect(second.order()).toEqual([3, 4, 5, 6, 7, 8, 9, 10, 11, 12]);
    });
  }

  test("after a crash redeliveries that come in another order are put in order", async () => {
    await using stage = await Stage.open(nats.url);
    await using wire = await startWire(nats.port);
    await stage.fill(8);
    // Only the lease of the third is renewed, so it ends last and comes again last.
    wire.dropToServer = (frame) => frame.payload.equals(Buffer.from("+WPI")) && frame.subject?.split(".").at(-4) !== "3";
    const sections = {
      delivery: { ordering: "strict", batch_size: 4, shutdown_timeout_ms: 0, abort_grace_ms: 0 },
      consumer_management: { ack_wait_seconds: 2 },
    };
    const first = new RecordingSink({ during: (write) => (write.sequences.includes(3) ? new Promise(() => undefined) : undefined) });
    const one = await startPipeline(stage, first, overWire(wire, sections));
    await eventually(() => first.messagesInWrites === 1 && first.distinct === 2 && wire.verbs("working").length >= 2, {
      deadlineMs: 10_000,
      what: "two heartbeats of the third",
      intervalMs: 5,
    });
    await wire.proxy.refuse();
    wire.proxy.cut();
    await one.stop();
    const second = new RecordingSink();
    await using _two = await startPipeline(stage, second, sections);
    await stage.settled();
    expect(second.order()).toEqual([3, 4, 5, 6, 7, 8]);
  });

  test("a stop of an ordered runner without a server ends within its bounds", async () => {
    await using stage = await Stage.open(nats.url);
    await using wire = await startWire(nats.port);
    await stage.fill(3);
    const sink = new RecordingSink();
    const sections = { delivery: { ordering: "strict", shutdown_timeout_ms: 500, abort_grace_ms: 300 } };
    const pipeline = await startPipeline(stage, sink, overWire(wire, sections));
    await stage.settled();
    await wire.proxy.refuse();
    wire.proxy.cut();
    await eventually(() => !pipeline.runner.status().healthy, { deadlineMs: 5000, what: "red health" });
    const began = performance.now();
    await pipeline.stop();
    expect(performance.now() - began).toBeLessThan(4000);
  });

  test("a message that was awaited and is deleted from the stream does not block its lane for ever", async () => {
    await using stage = await Stage.open(nats.url);
    await stage.fill(3);
    const sink = new RecordingSink({
      outcome: ({ sequence, attempt }) => (sequence === 1 && attempt === 1 ? new UnknownOutcomeError("connection reset") : null),
    });
    await using pipeline = await startPipeline(stage, sink, {
      delivery: { ordering: "strict", batch_size: 1, retry_backoff_ms: 1500, retry_backoff_max_ms: 1500 },
      consumer_management: { ack_wait_seconds: 1 },
    });
    await eventually(() => sink.attempts(1) === 1, { deadlineMs: 10_000, what: "the first failure" });
    await stage.manager.streams.deleteMessage(stage.name, 1);
    await eventually(() => sink.distinct === 2, { deadlineMs: 20_000, what: "the lane to go on" });
    expect(sink.order()).toEqual([2, 3]);
    const counted = () => pipeline.telemetry.counter("awaited_messages_gone_total") === 1;
    await eventually(counted, { deadlineMs: 10_000, what: "the deleted message to be counted" });
  });

  test("an awaited message that left the stream is looked up and counted while another client's delivery keeps the consumer busy", async () => {
    await using stage = await Stage.open(nats.url);
    await stage.addConsumer({ ack_wait: 6e9 });
    let first: number | undefined;
    const sink = new RecordingSink({
      outcome: ({ sequence }) => {
        first ??= sequence;
        return sequence === first ? new UnknownOutcomeError("connection reset") : null;
      },
    });
    const delivery = { ordering: "strict", batch_size: 1, retry_backoff_ms: 3000, retry_backoff_max_ms: 3000 };
    await using pipeline = await startPipeline(stage, sink, { delivery });
    const other = await (await stage.client.consumers.get(stage.name, stage.consumer)).fetch({ max_messages: 1, expires: 10_000 });
    await eventually(async () => (await stage.consumerInfo()).num_waiting === 2, { deadlineMs: 10_000, what: "two open pulls" });
    await stage.fill(4);
    let taken = 0;
    for await (const message of other) taken = message.seq;
    await eventually(() => first !== undefined, { deadlineMs: 10_000, what: "the failure" });
    expect(taken).toBeGreaterThan(0);
    await red(pipeline, "order_waits");
    await stage.manager.streams.deleteMessage(stage.name, first ?? 0);
    const counted = () => pipeline.telemetry.counter("awaited_messages_gone_total") === 1;
    await eventually(counted, { deadlineMs: 10_000, what: "the deleted message to be counted" });
    // What the other client took must come again before anything later goes.
    await eventually(() => sink.distinct === 3, { deadlineMs: 20_000, what: "the lane to go on" });
    expect(sink.order()).toEqual([1, 2, 3, 4].filter((sequence) => sequence !== first));
    expect(pipeline.telemetry.counter("awaited_messages_gone_total")).toBe(1);
    await green(pipeline);
  });
});

describe.concurrent("FW-RUN-35 order inside a batch", () => {
  test("what was not attempted is tried again and uses no budget", async () => {
    await using stage = await Stage.open(nats.url, { deadLetters: true });
    await stage.fill(5);
    const sink = new RecordingSink({
      outcome: ({ sequence, attempt }) => (sequence === 4 && attempt <= 6 ? new NotAttemptedError("not sent") : null),
    });
    const summary = await runOnce(stage, sink, { delivery: { max_retries: 1, batch_size: 1 } });
    expect(summary).toMatchObject({ stored: 5, deadLettered: 0, complete: true });
    expect(sink.attempts(4)).toBe(7);
    expect(sink.writes.flatMap(({ attempts }) => attempts).every(({ deliveryCount }) => deliveryCount === 1)).toBe(true);
  });

  test("behind a temporary failure of its lane the rest is not attempted, keeps its budget and its place", async () => {
    await using stage = await Stage.open(nats.url, { deadLetters: true });
    await stage.fill(6);
    const sink = new RecordingSink({
      orderedBatches: true,
      outcome: ({ sequence, attempt }) => (sequence === 2 && attempt <= 3 ? temporary() : null),
    });
    const summary = await runOnce(stage, sink, { delivery: { ordering: "strict", batch_size: 6, max_retries: 3, retry_backoff_ms: 1 } });
    expect(summary).toMatchObject({ stored: 6, deadLettered: 0, complete: true });
    expect(sink.order()).toEqual(upTo(6));
  });

  test("a sink that does not keep order inside a batch gets one message per lane", async () => {
    await using stage = await Stage.open(nats.url);
    await stage.fill(40, (index) => `k${index % 8}`);
    const sink = new RecordingSink();
    await runOnce(stage, sink, { delivery: { ordering: "per_key", batch_size: 20, max_in_flight_batches: 1 } });
    for (const { lanes } of sink.writes) expect(new Set(lanes).size).toBe(lanes?.length);
    expect(Math.max(...sink.writes.map(({ sequences }) => sequences.length))).toBeGreaterThan(1);
    expect(sink.missing(40)).toEqual([]);
  });
});

describe.concurrent("FW-RUN-36 poison in a lane", () => {
  const poison: NonNullable<SinkPlan["outcome"]> = ({ sequence }) => (sequence === 3 ? new PermanentSinkError("bad row") : null);

  test("park_key: its lane is held, other keys go on, and max_parked ends in a pause", async () => {
    await using stage = await Stage.open(nats.url, { deadLetters: true });
    await stage.fill(12, (index) => (index % 2 === 0 ? "bad" : "good"));
    const sink = new RecordingSink({ outcome: poison });
    await using pipeline = await startPipeline(stage, sink, { delivery: { ordering: "per_key", on_poison: "park_key", batch_size: 4 } });
    await eventually(() => sink.order(stage.subject("good")).length === 6, { deadlineMs: 10_000, what: "the good key" });
    expect(sink.order(stage.subject("bad"))).toEqual([1]);
    await eventually(() => pipeline.runner.status().held === 5, { deadlineMs: 10_000, what: "five held messages" });
    await stage.publish("bad", "later");
    await eventually(async () => (await stage.consumerInfo()).num_ack_pending === 6, {
      deadlineMs: 10_000,
      what: "the later one to be kept",
    });
    expect(await stage.deadLetters()).toEqual([]);
    expect(sink.attempts(13)).toBe(0);
  });

  test("stop: the pipeline pauses with the reason, dead-letters nothing, and goes on in order after a repair", async () => {
    await using stage = await Stage.open(nats.url);
    await stage.fill(6);
    let repaired = false;
    const sink = new RecordingSink({ outcome: (attempt) => (repaired ? null : poison(attempt)) });
    const { runner } = buildRunner(stage, sink, { delivery: { ordering: "strict", batch_size: 1 } });
    await runner.start();
    const ended = runner.run();
    await eventually(() => !runner.status().healthy, { deadlineMs: 10_000, what: "the pause" });
    expect(runner.status().reasons.join()).toMatch(/^paused: poison \(permanent\)/);
    expect(sink.order()).toEqual([1, 2]);
    repaired = true;
    runner.resume();
    await stage.settled();
    expect(sink.order()).toEqual(upTo(6));
    expect(runner.status().healthy).toBe(true);
    await runner.stop();
    expect(await ended).toMatchObject({ stored: 6, deadLettered: 0 });
  });
});
