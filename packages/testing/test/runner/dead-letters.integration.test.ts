import { createHash } from "node:crypto";
import { PermanentSinkError, SerializationError } from "@sinks/core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { eventually } from "../../src/eventually.js";
import type { NatsServer } from "../../src/service/nats-server.js";
import { startNats } from "../../src/service/start-nats.js";
import { runOnce, startPipeline } from "./support/pipeline.js";
import { RecordingSink } from "./support/recording-sink.js";
import { Stage } from "./support/stage.js";
import { overWire, startWire } from "./support/wire.js";

let nats: NatsServer;
beforeAll(async () => {
  nats = await startNats();
});
afterAll(() => nats[Symbol.asyncDispose]());

const poison = (...sequences: number[]) =>
  new RecordingSink({
    outcome: ({ sequence }) =>
      sequences.includes(sequence) ? new PermanentSinkError("value too long", { destinationCode: "22001" }) : null,
  });

/** True for the server's acknowledgement of a dead letter. */
function isPubAckOf(stage: Stage, payload: Buffer): boolean {
  return new RegExp(`"stream":\\s?"${stage.name}_DEAD",\\s?"seq"`).test(payload.toString("latin1"));
}

describe.concurrent("FW-DLQ-01 the original goes after the dead letter", () => {
  test("no ack leaves before the PubAck has arrived, and a repeat of the publish is one entry", async () => {
    await using stage = await Stage.open(nats.url, { deadLetters: true });
    await using wire = await startWire(nats.port);
    await stage.fill(4);
    let lost = 0;
    wire.dropToClient = (frame) => {
      const drop = isPubAckOf(stage, frame.payload) && lost < 1;
      if (drop) lost += 1;
      return drop;
    };
    await using pipeline = await startPipeline(stage, poison(2), overWire(wire, { delivery: { batch_size: 4 } }));
    await eventually(() => lost === 1, { deadlineMs: 10_000, what: "a lost PubAck" });
    expect(await stage.deadLetters()).toHaveLength(1);
    await eventually(async () => (await stage.consumerInfo()).num_ack_pending === 1, {
      deadlineMs: 10_000,
      what: "the neighbours to be settled",
    });
    expect(wire.verbs("ack").map(({ sequence }) => sequence)).not.toContain(2);
    await stage.settled(30_000);
    expect(lost).toBe(1);
    const letters = await stage.deadLetters();
    expect(letters).toHaveLength(1);
    expect(wire.sent.filter(({ subject }) => subject === `${stage.name}.dead`)).toHaveLength(2);
    expect(wire.verbs("ack").filter(({ sequence }) => sequence === 2)).toHaveLength(1);
    expect(pipeline.runner.status()).toMatchObject({ stored: 3, deadLettered: 1 });
    expect(pipeline.telemetry.counter("dlq_errors_total")).toBe(1);
  });

  test("a PubAck of another stream than the named one settles nothing; the right one does", async () => {
    await using stage = await Stage.open(nats.url, { deadLetters: true });
    await using wire = await startWire(nats.port);
    const named = `${stage.name}_DEAD`;
    const wrong = `${stage.name}_WRONG`;
    const subjects = [`${stage.name}.dead`];
    await using pipeline = await startPipeline(stage, poison(1), overWire(wire, { dead_letter: { stream: named } }));
    // Between start and the first dead letter the subject moves to another stream.
    await stage.manager.streams.update(named, { subjects: [`${stage.name}.elsewhere`] });
    await stage.manager.streams.add({ name: wrong, subjects });
    try {
      await stage.fill(1);
      const refusal = "dead letter acknowledged by another stream";
      await eventually(() => pipeline.telemetry.texts("warn").includes(refusal), { deadlineMs: 10_000, what: "the wrong PubAck" });
      expect((await stage.consumerInfo()).num_ack_pending).toBe(1);
      expect(wire.verbs("ack")).toEqual([]);
    } finally {
      await stage.manager.streams.delete(wrong);
    }
    await stage.manager.streams.update(named, { subjects });
    await stage.settled();
    expect((await stage.deadLetters()).map(({ record }) => record["stream_sequence"])).toEqual([1]);
  });

  test("FW-RUN-26 with ack_term_after_publish the original ends by TERM, after the dead letter", async () => {
    await using stage = await Stage.open(nats.url, { deadLetters: true });
    await using wire = await startWire(nats.port);
    await stage.fill(3);
    let lettersAtTerm = -1;
    wire.onSent = ({ text }) => {
      if (text === "+TERM") lettersAtTerm = wire.sent.filter(({ subject }) => subject === `${stage.name}.dead`).length;
    };
    await using _pipeline = await startPipeline(stage, poison(2), overWire(wire, { dead_letter: { ack_term_after_publish: true } }));
    await stage.settled();
    expect(wire.verbs("term").map(({ sequence }) => sequence)).toEqual([2]);
    expect(wire.verbs("ack").map(({ sequence }) => sequence)).toEqual([1, 3]);
    expect(lettersAtTerm).toBe(1);
    expect(await stage.deadLetters()).toHaveLength(1);
  });
});

describe.concurrent("FW-DLQ-02 FW-DLQ-03 what a dead letter says", () => {
  test("the record is compact JSON with sorted keys and every field, the headers name subject and error", async () => {
    await using stage = await Stage.open(nats.url, { deadLetters: true });
    const body = Buffer.from([0, 255, 10, 13]);
    await stage.publish("a", body, {
      "Nats-Msg-Id": "order-7",
      "Nats-Sinks-Priority": "high",
      "Nats-Sinks-Labels": "one;two",
      Other: "value",
    });
    const sink = poison(1);
    await runOnce(stage, sink, {}, { sinkName: "warehouse" });
    const [letter] = await stage.deadLetters();
    const envelope = sink.writes[0]?.attempts[0]?.envelope;
    expect(letter?.record).toMatchObject({
      dlq_version: 1,
      subject: stage.subject("a"),
      stream: stage.name,
      consumer: stage.consumer,
      stream_sequence: 1,
      consumer_sequence: 1,
      message_id: "order-7",
      priority: "high",
      classification: null,
      labels: ["one", "two"],
      redelivered: false,
      delivery_count: 1,
      pending: 0,
      idempotency_key: envelope?.idempotencyKey(),
      idempotency_key_unavailable_reason: null,
      payload: { present: true, omitted: false, delivered_size_bytes: 4 },
      payload_base64: body.toString("base64"),
      payload_sha256: createHash("sha256").update(body).digest("hex"),
      sink: "warehouse",
      error_type: "PermanentSinkError",
      error_code: "permanent",
      error: "value too long",
      destination_code: "22001",
      headers: { Other: "value", "Nats-Msg-Id": "order-7" },
    });
    expect(Object.keys(letter?.record ?? {})).toEqual(Object.keys(letter?.record ?? {}).sort());
    expect(letter?.text).toBe(JSON.stringify(letter?.record));
    expect(letter?.header("Nats-Sinks-Original-Subject")).toBe(stage.subject("a"));
    expect(letter?.header("Nats-Sinks-Error-Type")).toBe("PermanentSinkError");
    expect(letter?.header("Nats-Msg-Id")).toMatch(/^[0-9a-f]{64}$/);
  });

  test("payload, headers and error are left out when the configuration says so", async () => {
    await using stage = await Stage.open(nats.url, { deadLetters: true });
    await stage.publish("a", "confidential", { Other: "value" });
    await runOnce(stage, poison(1), { dead_letter: { include_payload: false, include_headers: false, include_error: false } });
    const [letter] = await stage.deadLetters();
    for (const key of ["payload_base64", "headers", "error", "error_type"]) expect(letter?.record).not.toHaveProperty(key);
    expect(letter?.header("Nats-Sinks-Error-Type")).toBe("");
    expect(letter?.record).toMatchObject({ error_code: "permanent" });
  });

  test("a message whose body was withheld says so instead of an empty payload", async () => {
    await using stage = await Stage.open(nats.url, { deadLetters: true });
    await stage.publish("a", "twelve bytes");
    const sink = new RecordingSink({ outcome: () => new SerializationError("no body") });
    await runOnce(stage, sink, { consumer_management: { headers_only: true } });
    const [letter] = await stage.deadLetters();
    expect(letter?.record).toMatchObject({
      payload_unavailable_reason: "headers_only",
      error_type: "SerializationError",
      payload: { original_size_bytes: 12 },
    });
    expect(letter?.record).not.toHaveProperty("payload_base64");
  });

  test("the same message and sink is one entry over restarts, another sink makes another", async () => {
    await using stage = await Stage.open(nats.url, { deadLetters: true });
    await stage.fill(1);
    for (const sinkName of ["one", "one", "two"]) {
      await runOnce(stage, poison(1), {}, { sinkName });
      await stage.manager.consumers.delete(stage.name, stage.consumer);
    }
    const letters = await stage.deadLetters();
    expect(letters.map(({ record }) => record["sink"])).toEqual(["one", "two"]);
  });

  test("an entry that was purged within the duplicate window is published again under an id of its own", async () => {
    await using stage = await Stage.open(nats.url, { deadLetters: true });
    await stage.fill(1);
    await runOnce(stage, poison(1));
    const [before] = await stage.deadLetters();
    await stage.manager.streams.purge(`${stage.name}_DEAD`);
    await stage.manager.consumers.delete(stage.name, stage.consumer);
    expect(await runOnce(stage, poison(1))).toMatchObject({ deadLettered: 1, complete: true });
    const letters = await stage.deadLetters();
    expect(letters.map(({ header }) => header("Nats-Msg-Id"))).toEqual([`${before?.header("Nats-Msg-Id")}-r1`]);
  });
});

describe.concurrent("FW-DLQ-06 many at a time", () => {
  test("publishes run side by side up to max_in_flight", async () => {
    await using stage = await Stage.open(nats.url, { deadLetters: true });
    await using wire = await startWire(nats.port);
    await stage.fill(30);
    let answered = 0;
    let peak = 0;
    wire.onSent = () => {
      const published = wire.sent.filter(({ subject }) => subject === `${stage.name}.dead`).length;
      peak = Math.max(peak, published - answered);
    };
    wire.dropToClient = (frame) => {
      if (isPubAckOf(stage, frame.payload)) answered += 1;
      return false;
    };
    const sink = new RecordingSink({ outcome: () => new PermanentSinkError("bad row") });
    await using _pipeline = await startPipeline(stage, sink, overWire(wire, { dead_letter: { max_in_flight: 7 } }));
    await stage.settled();
    expect(peak).toBeLessThanOrEqual(7);
    expect(peak).toBeGreaterThan(1);
    expect((await stage.deadLetters()).map(({ record }) => record["stream_sequence"]).sort((a, b) => Number(a) - Number(b))).toEqual(
      Array.from({ length: 30 }, (_, index) => index + 1),
    );
  });

  test("FW-RUN-27 while the dead letter stream is away the original stays leased and the rest goes on, then it is published", async () => {
    await using stage = await Stage.open(nats.url, { deadLetters: true });
    await stage.fill(10);
    const sink = poison(4);
    await stage.addConsumer({ ack_wait: 1e9 });
    const pipeline = await startPipeline(stage, sink, { nats: { subject: `${stage.name}.in.>` } });
    await using _pipeline = pipeline;
    await stage.settled();
    await stage.manager.streams.delete(`${stage.name}_DEAD`);
    const failed = 11;
    sink.plan.outcome = ({ sequence }) => (sequence === failed ? new PermanentSinkError("bad row") : null);
    expect(await stage.publish("a", "x")).toBe(failed);
    await eventually(() => pipeline.telemetry.counter("dlq_errors_total") >= 3, { deadlineMs: 20_000, what: "failed publishes" });
    const from = performance.now();
    await stage.fill(5);
    await eventually(() => sink.distinct === 14, { deadlineMs: 10_000, what: "the others to be stored" });
    await eventually(() => performance.now() - from > 1500, { deadlineMs: 10_000, what: "ack_wait to pass" });
    expect(await stage.consumerInfo()).toMatchObject({ num_ack_pending: 1, num_redelivered: 0 });
    await stage.manager.streams.add({ name: `${stage.name}_DEAD`, subjects: [`${stage.name}.dead`] });
    await stage.settled();
    expect((await stage.deadLetters()).map(({ record }) => record["stream_sequence"])).toEqual([failed]);
    expect(sink.attempts(failed)).toBe(1);
  });
});

describe.concurrent("FW-DLQ-09 a mass rejection", () => {
  const ratio = { dead_letter: { max_ratio: 0.5 }, delivery: { batch_size: 50 } };

  test("stops the pipeline instead of dead-lettering a stream; a restart after the repair stores what was kept", async () => {
    await using stage = await Stage.open(nats.url, { deadLetters: true });
    await stage.fill(400);
    const sink = new RecordingSink({ outcome: () => new PermanentSinkError("no such table") });
    const pipeline = await startPipeline(stage, sink, ratio);
    await eventually(() => !pipeline.runner.status().healthy, { deadlineMs: 20_000, what: "the pause" });
    expect(pipeline.runner.status().reasons.join()).toMatch(/^paused: mass_rejection: \d+ of the /);
    const { deadLettered } = await pipeline.stop();
    expect(deadLettered).toBeLessThan(100);
    expect(await stage.deadLetters()).toHaveLength(deadLettered);
    const repaired = new RecordingSink();
    expect(await runOnce(stage, repaired, ratio)).toMatchObject({ complete: true, deadLettered: 0 });
    expect(repaired.distinct + deadLettered).toBe(400);
  });

  test("ends by a repair without a restart", async () => {
    await using stage = await Stage.open(nats.url, { deadLetters: true });
    await stage.fill(300);
    const sink = new RecordingSink({ outcome: () => new PermanentSinkError("no such table") });
    await using pipeline = await startPipeline(stage, sink, ratio);
    await eventually(() => !pipeline.runner.status().healthy, { deadlineMs: 20_000, what: "the pause" });
    delete sink.plan.outcome;
    pipeline.runner.resume();
    await stage.settled();
    expect(pipeline.runner.status()).toMatchObject({ healthy: true, reasons: [] });
    expect(sink.distinct + (await stage.deadLetters()).length).toBe(300);
  });

  test("a bearable share is dead-lettered as ever", async () => {
    await using stage = await Stage.open(nats.url, { deadLetters: true });
    await stage.fill(400);
    const sink = new RecordingSink({ outcome: ({ sequence }) => (sequence % 3 === 0 ? new PermanentSinkError("bad row") : null) });
    expect(await runOnce(stage, sink, ratio)).toMatchObject({ stored: 267, deadLettered: 133, complete: true });
  });
});

describe.concurrent("FW-DLQ-08 with dead letters off", () => {
  test("when_disabled stop pauses the pipeline and acks nothing of the message", async () => {
    await using stage = await Stage.open(nats.url);
    await stage.fill(3);
    await using pipeline = await startPipeline(stage, poison(2), {
      dead_letter: { when_disabled: "stop" },
      delivery: { batch_size: 1, max_in_flight_batches: 1 },
    });
    await eventually(() => !pipeline.runner.status().healthy, { deadlineMs: 10_000, what: "the pause" });
    expect(pipeline.runner.status().reasons.join()).toMatch(/^paused: poison/);
    await eventually(async () => (await stage.consumerInfo()).ack_floor.stream_seq === 1, {
      deadlineMs: 10_000,
      what: "the first to be acked",
    });
    expect(pipeline.runner.status().stored).toBe(1);
  });

  test("FW-RUN-28 a paused run that ends gives its messages back once, and uses up no delivery of theirs", async () => {
    await using stage = await Stage.open(nats.url);
    await stage.fill(2);
    const summary = await runOnce(stage, poison(2), {
      dead_letter: { when_disabled: "stop" },
      consumer_management: { max_deliver: 5 },
    });
    expect(summary).toMatchObject({ received: 2, stored: 1, complete: false });
    expect(await stage.consumerInfo()).toMatchObject({ delivered: { consumer_seq: 2 }, ack_floor: { stream_seq: 1 } });
    // After the repair the message is there to be stored.
    const sink = new RecordingSink();
    expect(await runOnce(stage, sink)).toMatchObject({ stored: 1, complete: true });
    expect(sink.stored.map(({ sequence }) => sequence)).toEqual([2]);
  });

  test("when_disabled discard acks and counts it", async () => {
    await using stage = await Stage.open(nats.url);
    await stage.fill(3);
    const sink = poison(2);
    const summary = await runOnce(stage, sink, { dead_letter: { when_disabled: "discard" } });
    expect(summary).toMatchObject({ stored: 2, deadLettered: 0, discarded: 1, held: 0, complete: true });
    expect(summary.telemetry.counter("discarded_total")).toBe(1);
    expect(sink.missing(3)).toEqual([2]);
  });
});
