import { TemporarySinkError } from "@sinks/core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { NatsServer } from "../../src/service/nats-server.js";
import { startNats } from "../../src/service/start-nats.js";
import { runOnce } from "./support/pipeline.js";
import { RecordingSink } from "./support/recording-sink.js";
import { Stage } from "./support/stage.js";

let nats: NatsServer;
beforeAll(async () => {
  nats = await startNats();
});
afterAll(() => nats[Symbol.asyncDispose]());

describe.concurrent("FW-POL-04 a message over a limit", () => {
  test("is dead-lettered alone with its reason, never reaches the sink, and is no error of it", async () => {
    await using stage = await Stage.open(nats.url, { deadLetters: true });
    await stage.publish("a", "exactly 16 bytes");
    await stage.publish("a", "just 17 bytes now");
    await stage.publish("a", "{}", { "X-One": "1", "X-Two": "2" });
    await stage.publish("a", "{}", { "X-Long": "v".repeat(11) });
    await stage.publish("a", "{}", { "Nats-Sinks-Labels": "a;b;c" });
    await stage.publish("a", "good");
    const sink = new RecordingSink();
    const limits = { max_payload_bytes: 16, max_header_count: 1, max_header_value_bytes: 10, max_label_count: 2 };
    const summary = await runOnce(stage, sink, { size_policy: { enabled: true, ...limits } });
    expect(summary).toMatchObject({ complete: true, received: 6, stored: 2, deadLettered: 4, retried: 0 });
    expect(sink.order()).toEqual([1, 6]);
    expect([2, 3, 4, 5].map((sequence) => sink.attempts(sequence))).toEqual([0, 0, 0, 0]);
    const letters = (await stage.deadLetters()).map(({ record }) => [record["stream_sequence"], record["error_code"]]);
    expect(new Map(letters as [number, string][])).toEqual(
      new Map([
        [2, "payload_too_large"],
        [3, "header_count_too_large"],
        [4, "header_value_too_large"],
        [5, "label_count_too_large"],
      ]),
    );
    expect(summary.telemetry.counter("size_policy_messages_rejected_total")).toBe(4);
    expect(summary.telemetry.counter("sink_write_errors_total")).toBe(0);
    await stage.settled();
  });

  test("keeps its place in an ordered lane: what is behind it goes on only after it", async () => {
    await using stage = await Stage.open(nats.url, { deadLetters: true });
    for (const body of ["one", "much too long", "two"]) await stage.publish("a", body);
    const sink = new RecordingSink({ orderedBatches: true });
    const sections = {
      size_policy: { enabled: true, max_payload_bytes: 3 },
      delivery: { ordering: "strict", on_poison: "stop" },
    };
    const summary = await runOnce(stage, sink, sections, { onceTimeoutMs: 2000 });
    expect(summary.complete).toBe(false);
    expect(sink.order()).toEqual([1]);
    expect((await stage.consumerInfo()).ack_floor.stream_seq).toBe(1);
  });
});

describe.concurrent("FW-POL-04 in a lane that goes on behind poison, the default", () => {
  for (const ordering of ["strict", "per_key"] as const) {
    test(`a message over a limit keeps its place: nothing behind it is stored before what is in front of it (${ordering})`, async () => {
      await using stage = await Stage.open(nats.url, { deadLetters: true });
      for (const body of ["one", "much too long", "two", "much too long again", "six"]) await stage.publish("a", body);
      const sink = new RecordingSink({
        orderedBatches: true,
        outcome: ({ sequence, attempt }) => (sequence !== 5 && attempt <= 2 ? new TemporarySinkError("deadlock") : null),
      });
      const sections = { size_policy: { enabled: true, max_payload_bytes: 3 }, delivery: { ordering } };
      expect(await runOnce(stage, sink, sections)).toMatchObject({ complete: true, stored: 3, deadLettered: 2 });
      expect(sink.order()).toEqual([1, 3, 5]);
      expect([sink.attempts(2), sink.attempts(4)]).toEqual([0, 0]);
      expect((await stage.deadLetters()).map(({ record }) => record["stream_sequence"]).toSorted()).toEqual([2, 4]);
      expect((await stage.settled()).delivered.consumer_seq).toBe(5);
    });
  }
});

describe.concurrent("FW-RUN-11 max_batch_messages", () => {
  test("splits a batch and rejects nothing", async () => {
    await using stage = await Stage.open(nats.url);
    await stage.fill(25);
    const sink = new RecordingSink();
    const summary = await runOnce(stage, sink, { size_policy: { enabled: true, max_batch_messages: 4 }, delivery: { batch_size: 10 } });
    expect(summary).toMatchObject({ complete: true, stored: 25, deadLettered: 0 });
    expect(Math.max(...sink.writes.map(({ sequences }) => sequences.length))).toBeLessThanOrEqual(4);
  });
});
