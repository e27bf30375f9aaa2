import { PermanentSinkError, TemporarySinkError } from "@sinks/core";
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

describe.concurrent("FW-CLI-08 a run that ends by itself", () => {
  test("ends when everything up to the stream's end at start is settled, with its totals", async () => {
    await using stage = await Stage.open(nats.url, { deadLetters: true });
    await stage.fill(100);
    const sink = new RecordingSink({
      outcome: ({ sequence, attempt }) => {
        if (sequence === 10) return new PermanentSinkError("bad row");
        return sequence === 20 && attempt === 1 ? new TemporarySinkError("deadlock") : null;
      },
    });
    const summary = await runOnce(stage, sink);
    expect(summary).toMatchObject({ received: 101, stored: 99, deadLettered: 1, retried: 1, held: 0, complete: true, reason: null });
    expect(summary.seconds).toBeGreaterThan(0);
    expect(await stage.consumerInfo()).toMatchObject({ num_pending: 0, num_ack_pending: 0 });
  });

  test("does not wait for what is published after its start", async () => {
    await using stage = await Stage.open(nats.url);
    await stage.fill(20);
    const sink = new RecordingSink();
    const { runner } = buildRunner(stage, sink, {}, { once: true, onceTimeoutMs: 15_000 });
    await runner.start();
    let publishing = true;
    const traffic = (async () => {
      while (publishing) await stage.publish("a", "later");
    })();
    const summary = await runner.run();
    publishing = false;
    await traffic;
    expect(summary).toMatchObject({ complete: true });
    expect(sink.missing(20)).toEqual([]);
  });

  test("an empty stream, a stream without matching messages and a settled one end at once", async () => {
    await using stage = await Stage.open(nats.url);
    expect(await runOnce(stage, new RecordingSink())).toMatchObject({ received: 0, complete: true });
    await stage.fill(5);
    expect(await runOnce(stage, new RecordingSink())).toMatchObject({ received: 5, complete: true });
    expect(await runOnce(stage, new RecordingSink())).toMatchObject({ received: 0, complete: true });
    const other = { nats: { consumer: "other" }, consumer_management: { filter_subjects: [stage.subject("none")] } };
    expect(await runOnce(stage, new RecordingSink(), other)).toMatchObject({ received: 0, complete: true });
  });

  test("a held message ends it incomplete, with the reason and the sequence, the rest stored", async () => {
    await using stage = await Stage.open(nats.url);
    await stage.fill(10);
    const sink = new RecordingSink({ outcome: ({ sequence }) => (sequence === 7 ? new PermanentSinkError("bad row") : null) });
    const summary = await runOnce(stage, sink);
    expect(summary).toMatchObject({ stored: 9, held: 1, complete: false });
    expect(summary.reason).toBe("1 message is held, the oldest at sequence 7");
  });

  test("a pause ends it incomplete with the reason", async () => {
    await using stage = await Stage.open(nats.url);
    await stage.fill(3);
    const sink = new RecordingSink({ outcome: () => new PermanentSinkError("bad row") });
    const summary = await runOnce(stage, sink, { dead_letter: { when_disabled: "stop" } });
    expect(summary).toMatchObject({ complete: false, stored: 0 });
    expect(summary.reason).toMatch(/^paused: poison/);
  });

  test("the timeout ends it incomplete, named", async () => {
    await using stage = await Stage.open(nats.url);
    await stage.fill(3);
    const sink = new RecordingSink({ outcome: () => new TemporarySinkError("deadlock") });
    const summary = await runOnce(stage, sink, { delivery: { max_retries: 100_000, retry_backoff_ms: 50 } }, { onceTimeoutMs: 700 });
    expect(summary).toMatchObject({ complete: false, stored: 0, reason: "timed out after 700 ms" });
    expect(summary.seconds).toBeGreaterThanOrEqual(0.7);
  });

  test("a consumer that goes missing under way ends it incomplete, named", async () => {
    await using stage = await Stage.open(nats.url);
    await stage.fill(30);
    const gate = closedGate();
    const sink = new RecordingSink({ during: (_, signal) => gate.passed(signal) });
    const { runner } = buildRunner(stage, sink, { delivery: { shutdown_timeout_ms: 1000 } }, { once: true, onceTimeoutMs: 20_000 });
    await runner.start();
    const ended = runner.run();
    await eventually(() => sink.messagesInWrites > 0, { deadlineMs: 10_000, what: "a write" });
    await stage.manager.consumers.delete(stage.name, stage.consumer);
    await eventually(() => !runner.status().healthy, { deadlineMs: 10_000, what: "red health" });
    gate.open();
    const summary = await ended;
    expect(summary.complete).toBe(false);
    expect(summary.reason).toContain("the consumer went missing");
  });

  test("leases of another process are waited for and then stored", async () => {
    await using stage = await Stage.open(nats.url);
    await stage.fill(6);
    await stage.addConsumer({ ack_wait: 1.5e9 });
    const consumer = await stage.client.consumers.get(stage.name, stage.consumer);
    const others = await consumer.fetch({ max_messages: 4, expires: 2000 });
    for await (const message of others) expect(message.info.deliveryCount).toBe(1);
    const sink = new RecordingSink();
    const summary = await runOnce(stage, sink);
    expect(summary).toMatchObject({ stored: 6, complete: true });
    expect(summary.seconds).toBeGreaterThan(1);
    expect(sink.missing(6)).toEqual([]);
  });

  test("two runs share a consumer, and each ends when all is settled by either", async () => {
    await using stage = await Stage.open(nats.url);
    await stage.fill(400);
    const sinks = [new RecordingSink(), new RecordingSink()];
    const summaries = await Promise.all(
      sinks.map((sink) => runOnce(stage, sink, { delivery: { batch_size: 20, max_in_flight_batches: 1 } })),
    );
    expect(summaries.map(({ complete }) => complete)).toEqual([true, true]);
    expect(summaries.reduce((sum, { stored }) => sum + stored, 0)).toBe(400);
    expect(new Set(sinks.flatMap((sink) => sink.order())).size).toBe(400);
    await using _idle = await startPipeline(stage, new RecordingSink());
    expect((await stage.settled()).delivered.consumer_seq).toBe(400);
  });
});
