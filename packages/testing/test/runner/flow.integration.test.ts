import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { eventually } from "../../src/eventually.js";
import type { NatsServer } from "../../src/service/nats-server.js";
import { startNats } from "../../src/service/start-nats.js";
import { closedGate } from "./support/gate.js";
import { runOnce, startPipeline } from "./support/pipeline.js";
import { RecordingSink } from "./support/recording-sink.js";
import { Stage } from "./support/stage.js";
import { overWire, startWire, watchAcks } from "./support/wire.js";

let nats: NatsServer;
beforeAll(async () => {
  nats = await startNats();
});
afterAll(() => nats[Symbol.asyncDispose]());

const maxPayload = 1_048_576;
const leastPull = maxPayload + 65_536;

describe.concurrent("FW-RUN-08 bounds and overlap", () => {
  test("no more is fetched and unsettled than max_messages_in_flight, by our count and by the server's", async () => {
    await using stage = await Stage.open(nats.url);
    await stage.fill(400);
    const gate = closedGate();
    const sink = new RecordingSink({ during: (_, signal) => gate.passed(signal) });
    const delivery = { batch_size: 20, max_in_flight_batches: 2, max_messages_in_flight: 50 };
    await using pipeline = await startPipeline(stage, sink, { delivery });
    await eventually(() => pipeline.runner.status().inFlight >= 50, { deadlineMs: 10_000, what: "a full flight" });
    const peaks: number[] = [];
    // Pulls of several rounds end and begin again while the flight is full.
    await eventually(
      async () => {
        peaks.push((await stage.consumerInfo()).num_ack_pending, pipeline.runner.status().inFlight);
        return peaks.length > 40;
      },
      { deadlineMs: 20_000, what: "readings" },
    );
    expect(Math.max(...peaks)).toBe(50);
    expect(sink.messagesInWrites).toBe(40);
    gate.open();
    await stage.settled();
    expect(sink.missing(400)).toEqual([]);
    expect(sink.stored).toHaveLength(400);
  });

  test("no more bytes are fetched and unsettled than max_bytes_in_flight", async () => {
    await using stage = await Stage.open(nats.url);
    const body = "x".repeat(100_000);
    for (let index = 0; index < 40; index += 1) await stage.publish("a", body);
    const gate = closedGate();
    const sink = new RecordingSink({ during: (_, signal) => gate.passed(signal) });
    const limit = 2_000_000;
    await using pipeline = await startPipeline(stage, sink, {
      delivery: { max_bytes_in_flight: limit, batch_max_bytes: 300_000, max_in_flight_batches: 2 },
    });
    const readings: number[] = [];
    await eventually(
      async () => {
        const { num_ack_pending } = await stage.consumerInfo();
        readings.push(num_ack_pending * body.length, pipeline.runner.status().bytesInFlight);
        return readings.length > 40;
      },
      { deadlineMs: 20_000, what: "readings" },
    );
    expect(Math.max(...readings)).toBeLessThanOrEqual(limit);
    expect(Math.max(...readings)).toBeGreaterThan(800_000);
    expect(sink.writes.map(({ sequences }) => sequences.length)).toEqual([2, 2]);
    gate.open();
    await stage.settled();
    expect(sink.missing(40)).toEqual([]);
  });

  test("max_in_flight_batches writes really run at the same time, and never one more", async () => {
    await using stage = await Stage.open(nats.url);
    await stage.fill(200);
    const gate = closedGate();
    const sink = new RecordingSink({ during: (_, signal) => gate.passed(signal) });
    await using pipeline = await startPipeline(stage, sink, { delivery: { batch_size: 10, max_in_flight_batches: 3 } });
    await eventually(() => sink.writes.length === 3 && pipeline.runner.status().inFlight === 40, {
      deadlineMs: 10_000,
      what: "three writes",
    });
    gate.open();
    await stage.settled();
    expect(sink.peakWrites).toBe(3);
    expect(sink.missing(200)).toEqual([]);
    expect(pipeline.runner.status()).toMatchObject({ received: 200, stored: 200, retried: 0 });
  });

  test("fetching and settling go on while a write takes its time", async () => {
    await using stage = await Stage.open(nats.url);
    await stage.fill(100);
    const gate = closedGate();
    const sink = new RecordingSink({ during: (write, signal) => (write.number === 1 ? gate.passed(signal) : undefined) });
    await using _pipeline = await startPipeline(stage, sink, { delivery: { batch_size: 10, max_in_flight_batches: 2 } });
    const info = await eventually(
      async () => {
        const seen = await stage.consumerInfo();
        return seen.num_pending === 0 && seen.num_ack_pending === 10 ? seen : null;
      },
      { deadlineMs: 10_000, what: "all but the slow batch to be settled" },
    );
    expect(info.ack_floor.stream_seq).toBe(0);
    expect(sink.distinct).toBe(90);
    gate.open();
    await stage.settled();
  });

  test("FW-RUN-34 pulls ask for count, bytes, expiry and heartbeat, and bytes never below max_payload and 64 KiB", async () => {
    await using stage = await Stage.open(nats.url);
    await using wire = await startWire(nats.port);
    await stage.fill(300);
    const sink = new RecordingSink();
    const delivery = {
      batch_size: 50,
      batch_max_bytes: 2048,
      batch_timeout_ms: 100,
      max_in_flight_batches: 2,
      max_bytes_in_flight: 3_000_000,
    };
    await using _pipeline = await startPipeline(stage, sink, overWire(wire, { delivery }));
    await stage.settled();
    const pulls = wire.pulls();
    expect(pulls.length).toBeGreaterThan(5);
    for (const pull of pulls) {
      expect(pull.batch).toBeLessThanOrEqual(50);
      expect(pull.max_bytes).toBeGreaterThanOrEqual(leastPull);
      expect(pull.expires).toBe(500e6);
      expect(pull.idle_heartbeat).toBe(250e6);
    }
  });

  test("FW-RUN-34 without room for one largest message no pull is made", async () => {
    await using stage = await Stage.open(nats.url);
    await using wire = await startWire(nats.port);
    const body = "x".repeat(300_000);
    await stage.publish("a", body);
    const gate = closedGate();
    const sink = new RecordingSink({ during: (_, signal) => gate.passed(signal) });
    await using pipeline = await startPipeline(stage, sink, overWire(wire, { delivery: { max_bytes_in_flight: leastPull } }));
    await eventually(() => sink.messagesInWrites === 1, { deadlineMs: 10_000, what: "the first write" });
    // What is open now may still bring one more pull's worth; after it has ended there is no room for another.
    const count = await eventually(
      async () => {
        const before = wire.pulls().length;
        await stage.consumerInfo();
        return (await stage.consumerInfo()).num_waiting === 0 ? before : null;
      },
      { deadlineMs: 10_000, what: "no pull to be open" },
    );
    await stage.publish("a", body);
    for (let reading = 0; reading < 30; reading += 1) expect((await stage.consumerInfo()).num_waiting).toBe(0);
    expect(wire.pulls()).toHaveLength(count);
    expect(pipeline.runner.status().inFlight).toBe(1);
    gate.open();
    await stage.settled();
    expect(sink.missing(2)).toEqual([]);
  });
});

describe.concurrent("FW-RUN-09 adaptive batches", () => {
  test("sparse traffic is written at once, one message a batch, without linger", async () => {
    await using stage = await Stage.open(nats.url);
    const sink = new RecordingSink();
    await using _pipeline = await startPipeline(stage, sink);
    for (let index = 1; index <= 5; index += 1) {
      await stage.publish("a", "x");
      await eventually(() => sink.copies(index) === 1, { deadlineMs: 5000, what: `message ${index}`, intervalMs: 2 });
    }
    expect(sink.writes.map(({ sequences }) => sequences)).toEqual([[1], [2], [3], [4], [5]]);
  });

  test("while all slots are busy the next batch grows, up to batch_size", async () => {
    await using stage = await Stage.open(nats.url);
    const gate = closedGate();
    const sink = new RecordingSink({ during: (write, signal) => (write.number === 1 ? gate.passed(signal) : undefined) });
    await using pipeline = await startPipeline(stage, sink, { delivery: { batch_size: 100, max_in_flight_batches: 1 } });
    await stage.publish("a", "first");
    await eventually(() => sink.writes.length === 1, { deadlineMs: 5000, what: "the first write" });
    await stage.fill(130);
    await eventually(() => pipeline.runner.status().inFlight === 131, { deadlineMs: 10_000, what: "all to be buffered" });
    gate.open();
    await stage.settled();
    expect(sink.writes.map(({ sequences }) => sequences.length)).toEqual([1, 100, 30]);
  });

  test("with linger a partial batch waits that long after its first message, a full one does not", async () => {
    await using stage = await Stage.open(nats.url);
    const sink = new RecordingSink();
    await using _pipeline = await startPipeline(stage, sink, { delivery: { batch_size: 4, linger_ms: 600 } });
    const before = performance.now();
    await stage.publish("a", "1");
    await stage.publish("a", "2");
    await stage.settled();
    expect(sink.writes.map(({ sequences }) => sequences)).toEqual([[1, 2]]);
    expect((sink.writes[0]?.startedAt ?? 0) - before).toBeGreaterThanOrEqual(595);
    await stage.fill(4);
    await eventually(() => sink.writes.length === 2, { deadlineMs: 5000, what: "the full batch" });
    expect(sink.writes[1]?.sequences).toEqual([3, 4, 5, 6]);
  });

  test("a stop closes a partial batch at once, however long it would linger", async () => {
    await using stage = await Stage.open(nats.url);
    const sink = new RecordingSink();
    const pipeline = await startPipeline(stage, sink, { delivery: { linger_ms: 60_000, shutdown_timeout_ms: 30_000 } });
    await stage.fill(3);
    await eventually(() => pipeline.runner.status().inFlight === 3, { deadlineMs: 5000, what: "three waiting messages" });
    expect(sink.writes).toEqual([]);
    const began = performance.now();
    expect(await pipeline.stop()).toMatchObject({ received: 3, stored: 3 });
    expect(performance.now() - began).toBeLessThan(10_000);
    expect(sink.writes.map(({ sequences }) => sequences)).toEqual([[1, 2, 3]]);
    expect((await stage.consumerInfo()).num_ack_pending).toBe(0);
  });

  test("a message larger than batch_max_bytes is a batch alone, and no batch is empty", async () => {
    await using stage = await Stage.open(nats.url);
    const large = "x".repeat(10_000);
    for (const body of ["1", "2", large, "4", large, large, "7"]) await stage.publish("a", body);
    const sink = new RecordingSink();
    await runOnce(stage, sink, { delivery: { batch_max_bytes: 4096, max_in_flight_batches: 1 } });
    const sizes = new Map(sink.writes.flatMap(({ sequences }) => sequences.map((sequence) => [sequence, sequences.length])));
    expect([3, 5, 6].map((sequence) => sizes.get(sequence))).toEqual([1, 1, 1]);
    expect(sink.writes.every(({ sequences }) => sequences.length > 0)).toBe(true);
    expect(sink.missing(7)).toEqual([]);
  });

  test("FW-RUN-11 a backlog beyond batch_size is split into batches, none is rejected", async () => {
    await using stage = await Stage.open(nats.url);
    await stage.fill(2500);
    const sink = new RecordingSink();
    const summary = await runOnce(stage, sink, { delivery: { batch_size: 100 } });
    expect(summary).toMatchObject({ received: 2500, stored: 2500, deadLettered: 0, retried: 0, held: 0, complete: true });
    const sizes = sink.writes.map(({ sequences }) => sequences.length);
    expect(Math.max(...sizes)).toBe(100);
    expect(sink.writes.length).toBeLessThan(60);
    expect(sink.stored).toHaveLength(2500);
  });
});

describe.concurrent("what every run promises", () => {
  test("FW-RUN-10 a gate rejects one message and no neighbour", async () => {
    await using stage = await Stage.open(nats.url, { deadLetters: true });
    await stage.fill(4);
    const labels = { "Nats-Sinks-Labels": "one;t\u0001wo" };
    const rejected = await stage.publish("a", "rejected", labels);
    await stage.fill(4);
    const sink = new RecordingSink();
    const summary = await runOnce(stage, sink);
    expect(summary).toMatchObject({ stored: 8, deadLettered: 1, complete: true });
    expect(sink.missing(9)).toEqual([rejected]);
    expect(sink.attempts(rejected)).toBe(0);
    const [letter] = await stage.deadLetters();
    expect(letter?.record).toMatchObject({ stream_sequence: rejected, error_type: "ValidationError" });
    expect(letter?.record["error"]).not.toContain("wo");
  });

  test("FW-RUN-22 no ack leaves for a message that is not durable at that moment", async () => {
    await using stage = await Stage.open(nats.url);
    await using wire = await startWire(nats.port);
    await stage.fill(500);
    const gates = [closedGate(), closedGate()];
    const sink = new RecordingSink({ during: (write, signal) => gates[write.number - 1]?.passed(signal) });
    const early = watchAcks(wire, (sequence) => sink.copies(sequence) > 0);
    await using _pipeline = await startPipeline(stage, sink, overWire(wire, { delivery: { batch_size: 50, max_in_flight_batches: 4 } }));
    // The two batches that wait have up to 50 messages each; how full they are is the arrival's choice.
    await eventually(
      async () => {
        const { num_pending, num_ack_pending } = await stage.consumerInfo();
        return num_pending === 0 && sink.distinct >= 400 && num_ack_pending === 500 - sink.distinct;
      },
      { deadlineMs: 20_000, what: "two batches to be left" },
    );
    for (const gate of gates) gate.open();
    await stage.settled();
    expect(early).toEqual([]);
    expect(
      wire
        .verbs("ack")
        .map(({ sequence }) => sequence)
        .sort((a, b) => a - b),
    ).toEqual(Array.from({ length: 500 }, (_, index) => index + 1));
  });

  test("FW-RUN-07 a reply subject that is not an ack subject is never answered", async () => {
    await using stage = await Stage.open(nats.url);
    await using wire = await startWire(nats.port);
    await stage.fill(3);
    const sink = new RecordingSink();
    await using _pipeline = await startPipeline(stage, sink, overWire(wire));
    await stage.settled();
    // Published straight to the inboxes of all pulls, the open ones among them, as a stranger could.
    const inboxes = wire.sent.filter(({ subject }) => subject.includes(".MSG.NEXT.")).flatMap(({ reply }) => reply ?? []);
    expect(inboxes.length).toBeGreaterThan(0);
    for (const inbox of inboxes) stage.connection.publish(inbox, "stranger", { reply: `${stage.name}.reply` });
    await stage.publish("a", "last");
    await stage.settled();
    expect(wire.sent.filter(({ subject }) => subject === `${stage.name}.reply`)).toEqual([]);
    expect(sink.stored.map(({ text }) => text)).not.toContain("stranger");
  });
});
