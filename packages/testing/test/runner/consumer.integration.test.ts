import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { eventually } from "../../src/eventually.js";
import type { NatsServer } from "../../src/service/nats-server.js";
import { startNats } from "../../src/service/start-nats.js";
import { closedGate } from "./support/gate.js";
import { buildRunner, runOnce, startPipeline } from "./support/pipeline.js";
import { RecordingSink } from "./support/recording-sink.js";
import { Stage } from "./support/stage.js";

let nats: NatsServer;
beforeAll(async () => {
  nats = await startNats();
});
afterAll(() => nats[Symbol.asyncDispose]());

async function startFailure(stage: Stage, sections: Record<string, unknown>): Promise<Error> {
  const { runner } = buildRunner(stage, new RecordingSink(), sections);
  return runner.start().then(
    () => runner.stop().then(() => expect.fail("it started")),
    (error: Error) => error,
  );
}

describe.concurrent("FW-RUN-03 modes of the consumer", () => {
  test("create_if_missing makes it as stated, and a second start finds no drift in what the server added", async () => {
    await using stage = await Stage.open(nats.url);
    await stage.fill(4);
    const sections = {
      consumer_management: {
        ack_wait_seconds: 7,
        max_deliver: 9,
        max_waiting: 77,
        metadata: { owner: "tests" },
        filter_subjects: [stage.subject("a")],
      },
    };
    expect(await runOnce(stage, new RecordingSink(), sections)).toMatchObject({ stored: 4, complete: true });
    const { config } = await stage.consumerInfo();
    expect(config).toMatchObject({
      ack_policy: "explicit",
      ack_wait: 7e9,
      max_deliver: 9,
      max_waiting: 77,
      filter_subject: stage.subject("a"),
    });
    expect(config.metadata).toMatchObject({ owner: "tests" });
    expect(Object.keys(config.metadata ?? {}).some((key) => key.startsWith("_nats."))).toBe(true);
    expect(await runOnce(stage, new RecordingSink(), sections)).toMatchObject({ complete: true });
  });

  test("bind_only takes an existing consumer and changes nothing of it", async () => {
    await using stage = await Stage.open(nats.url);
    await stage.fill(2);
    const before = await stage.addConsumer({ max_ack_pending: 12_345 });
    const sink = new RecordingSink();
    expect(await runOnce(stage, sink, { consumer_management: { mode: "bind_only" } })).toMatchObject({ stored: 2 });
    const after = await stage.consumerInfo();
    expect(after.created).toBe(before.created);
    expect(after.config).toEqual(before.config);
  });

  test("drift is refused with field, expected and actual, and leaves the consumer as it is", async () => {
    await using stage = await Stage.open(nats.url);
    await stage.addConsumer({ ack_wait: 30e9, max_deliver: 5 });
    const failure = await startFailure(stage, { consumer_management: { ack_wait_seconds: 10, max_deliver: 6 } });
    expect(failure).toMatchObject({ name: "ConfigurationError", code: "consumer_drift" });
    expect(failure.message).toContain("ack_wait expected 10000000000, found 30000000000");
    expect(failure.message).toContain("max_deliver expected 6, found 5");
    expect((await stage.consumerInfo()).config).toMatchObject({ ack_wait: 30e9, max_deliver: 5 });
  });

  test("reconcile updates every mutable difference, filters and metadata among them", async () => {
    await using stage = await Stage.open(nats.url);
    await stage.fill(6, (index) => (index % 2 === 0 ? "a" : "b"));
    await stage.addConsumer({
      ack_wait: 30e9,
      max_deliver: 5,
      max_ack_pending: 2000,
      metadata: { old: "1" },
      filter_subject: stage.subject("a"),
    });
    const sink = new RecordingSink();
    const summary = await runOnce(stage, sink, {
      delivery: { batch_size: 100 },
      consumer_management: {
        mode: "reconcile",
        ack_wait_seconds: 10,
        max_deliver: 6,
        max_ack_pending: 3000,
        metadata: { fresh: "2" },
        filter_subjects: [stage.subject("a"), stage.subject("b")],
      },
    });
    expect(summary).toMatchObject({ stored: 6, complete: true });
    const { config } = await stage.consumerInfo();
    expect(config).toMatchObject({ ack_wait: 10e9, max_deliver: 6, max_ack_pending: 3000 });
    expect([...(config.filter_subjects ?? [])].sort()).toEqual([stage.subject("a"), stage.subject("b")]);
    expect(config.metadata).toMatchObject({ fresh: "2" });
    expect(config.metadata).not.toHaveProperty("old");
  });

  test("FW-RUN-12 reconcile gives the pin of an ordered runner to a consumer made without an order", async () => {
    await using stage = await Stage.open(nats.url);
    await stage.fill(4);
    await stage.addConsumer();
    const sink = new RecordingSink();
    const sections = { delivery: { ordering: "strict" }, consumer_management: { mode: "reconcile" } };
    expect(await runOnce(stage, sink, sections)).toMatchObject({ stored: 4, complete: true });
    const { config } = await stage.consumerInfo();
    expect(config).toMatchObject({ priority_policy: "pinned_client", priority_timeout: 3e9 });
    expect(config.priority_groups).toHaveLength(1);
  });

  test("reconcile names what cannot be changed, and changes nothing else either", async () => {
    await using stage = await Stage.open(nats.url);
    await stage.addConsumer({ deliver_policy: "new", ack_wait: 30e9 });
    const failure = await startFailure(stage, { consumer_management: { mode: "reconcile", ack_wait_seconds: 10 } });
    expect(failure).toMatchObject({ code: "consumer_drift" });
    expect(failure.message).toContain('deliver_policy expected "all", found "new"');
    expect(failure.message).not.toContain("ack_wait");
    expect((await stage.consumerInfo()).config.ack_wait).toBe(30e9);
  });

  test("an ephemeral consumer honours the same fields", async () => {
    await using stage = await Stage.open(nats.url);
    await stage.fill(3);
    const sections = {
      nats: { durable: false },
      consumer_management: { ack_wait_seconds: 7, max_deliver: 4, metadata: { owner: "tests" } },
    };
    const sink = new RecordingSink();
    await using pipeline = await startPipeline(stage, sink, sections);
    await stage.settled();
    const { config } = await stage.consumerInfo();
    expect(config.durable_name).toBeUndefined();
    expect(config).toMatchObject({ ack_policy: "explicit", ack_wait: 7e9, max_deliver: 4 });
    expect(config.metadata).toMatchObject({ owner: "tests" });
    expect(config.inactive_threshold).toBeGreaterThan(60e9);
    expect(pipeline.runner.status().stored).toBe(3);
  });

  test("start_sequence and several filters decide what is delivered", async () => {
    await using stage = await Stage.open(nats.url);
    await stage.fill(30, (index) => ["a", "b", "c"][index % 3] as string);
    const sink = new RecordingSink();
    await runOnce(stage, sink, {
      consumer_management: {
        deliver_policy: "by_start_sequence",
        start_sequence: 11,
        filter_subjects: [stage.subject("a"), stage.subject("c")],
      },
    });
    const expected = Array.from({ length: 30 }, (_, index) => index + 1).filter((sequence) => sequence >= 11 && sequence % 3 !== 2);
    expect(sink.order().sort((a, b) => a - b)).toEqual(expected);
  });
});

describe.concurrent("FW-RUN-04 limits of the consumer", () => {
  test("a window that is not set becomes the larger of 20000 and four times the flight", async () => {
    await using small = await Stage.open(nats.url);
    await runOnce(small, new RecordingSink());
    expect((await small.consumerInfo()).config.max_ack_pending).toBe(20_000);
    await using large = await Stage.open(nats.url);
    await runOnce(large, new RecordingSink(), { delivery: { max_messages_in_flight: 7000 } });
    expect((await large.consumerInfo()).config.max_ack_pending).toBe(28_000);
  });

  test("an existing window below the flight warns, and the flight is clamped to it", async () => {
    await using stage = await Stage.open(nats.url);
    await stage.addConsumer({ max_ack_pending: 40 });
    await stage.fill(200);
    const gate = closedGate();
    const sink = new RecordingSink({ during: (_, signal) => gate.passed(signal) });
    await using pipeline = await startPipeline(stage, sink, { delivery: { batch_size: 30 } });
    expect(pipeline.telemetry.texts("warn").join()).toContain("the flight is clamped");
    await eventually(() => pipeline.runner.status().inFlight === 40, { deadlineMs: 10_000, what: "a flight of 40" });
    expect((await stage.consumerInfo()).num_ack_pending).toBe(40);
    gate.open();
    await stage.settled();
    expect(sink.missing(200)).toEqual([]);
    expect(sink.peakMessages).toBeLessThanOrEqual(40);
  });

  test("max_deliver 1 of an existing consumer is refused, and taken with allow_single_delivery", async () => {
    await using stage = await Stage.open(nats.url);
    await stage.addConsumer({ max_deliver: 1 });
    await stage.fill(2);
    const failure = await startFailure(stage, {});
    expect(failure).toMatchObject({ name: "ConfigurationError" });
    expect(failure.message).toMatch(/max_deliver 1.*allow_single_delivery/);
    const summary = await runOnce(stage, new RecordingSink(), { delivery: { allow_single_delivery: true } });
    expect(summary).toMatchObject({ stored: 2, complete: true });
  });

  test("a consumer without explicit acks or one that pushes is refused", async () => {
    await using stage = await Stage.open(nats.url);
    await stage.addConsumer({ ack_policy: "all" });
    expect((await startFailure(stage, {})).message).toContain('ack_policy expected "explicit", found "all"');
    await stage.manager.consumers.delete(stage.name, stage.consumer);
    await stage.addConsumer({ deliver_subject: `${stage.name}.push` });
    expect((await startFailure(stage, {})).message).toContain("is a push consumer");
  });
});
