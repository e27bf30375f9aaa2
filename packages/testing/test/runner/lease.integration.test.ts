import { DestinationUnavailableError, TemporarySinkError } from "@sinks/core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { eventually } from "../../src/eventually.js";
import type { NatsServer } from "../../src/service/nats-server.js";
import { startNats } from "../../src/service/start-nats.js";
import { aborted, closedGate } from "./support/gate.js";
import { red } from "./support/health.js";
import { startPipeline } from "./support/pipeline.js";
import { RecordingSink, type Write } from "./support/recording-sink.js";
import { Stage } from "./support/stage.js";
import { overWire, startWire } from "./support/wire.js";

let nats: NatsServer;
beforeAll(async () => {
  nats = await startNats();
});
afterAll(() => nats[Symbol.asyncDispose]());

/** Waits until this moment of the monotonic clock, as a destination that takes its time does. */
function until(moment: number): Promise<boolean> {
  return eventually(() => performance.now() >= moment, { deadlineMs: 60_000, what: "the time of a slow write" });
}

/** A plan whose first write takes this long. */
const firstWriteTakes = (milliseconds: number) => ({
  during: async (write: Write) => void (write.number === 1 && (await until(write.startedAt + milliseconds))),
});

describe.concurrent("FW-RUN-15 heartbeats", () => {
  test("a write five times as long as ack_wait is delivered once, and so is what waits behind it", async () => {
    await using stage = await Stage.open(nats.url);
    await using wire = await startWire(nats.port);
    await stage.fill(6);
    const sink = new RecordingSink(firstWriteTakes(5000));
    await using pipeline = await startPipeline(
      stage,
      sink,
      overWire(wire, { consumer_management: { ack_wait_seconds: 1 }, delivery: { batch_size: 3, max_in_flight_batches: 1 } }),
    );
    const info = await stage.settled();
    expect(info.num_redelivered).toBe(0);
    // Had any of them been delivered again, the consumer would have counted more deliveries than messages.
    expect(info.delivered.consumer_seq).toBe(6);
    expect(sink.writes.flatMap(({ attempts }) => attempts).every(({ deliveryCount }) => deliveryCount === 1)).toBe(true);
    expect(sink.stored).toHaveLength(6);
    const beats = wire.verbs("working");
    for (const sequence of [1, 4]) expect(beats.filter((beat) => beat.sequence === sequence).length).toBeGreaterThanOrEqual(12);
    expect(pipeline.telemetry.counter("late_acks_total")).toBe(0);
  });

  test("the deadline is that of the live consumer: its BackOff entry for the delivery", async () => {
    await using stage = await Stage.open(nats.url);
    await using wire = await startWire(nats.port);
    await stage.addConsumer({ backoff: [0.9e9, 60e9], max_deliver: 10 });
    await stage.fill(1);
    const sink = new RecordingSink({
      ...firstWriteTakes(2000),
      outcome: ({ attempt }) => (attempt === 1 ? new TemporarySinkError("deadlock") : null),
    });
    await using _pipeline = await startPipeline(stage, sink, overWire(wire));
    await eventually(() => sink.attempts(1) === 1, { deadlineMs: 10_000, what: "the first attempt" });
    await eventually(() => wire.verbs("nak").length === 1, { deadlineMs: 10_000, what: "the failure" });
    const times = wire.verbs("working").map(({ at }) => at);
    const gaps = times.slice(1).map((at, index) => at - (times[index] ?? 0));
    // A third of 0.9 s, looked at every 0.1 s.
    expect(times.length).toBeGreaterThanOrEqual(4);
    expect(Math.min(...gaps)).toBeGreaterThan(200);
    expect((await stage.consumerInfo()).delivered.consumer_seq).toBe(1);
  });

  test("heartbeats can be switched off, and then a long write is delivered again but not written twice at once", async () => {
    await using stage = await Stage.open(nats.url);
    await using wire = await startWire(nats.port);
    await stage.fill(1);
    const gate = closedGate();
    const sink = new RecordingSink({ during: (_, signal) => gate.passed(signal) });
    const sections = { consumer_management: { ack_wait_seconds: 1 }, delivery: { in_progress: { enabled: false } } };
    await using pipeline = await startPipeline(stage, sink, overWire(wire, sections));
    await eventually(() => pipeline.telemetry.counter("redelivered_while_held_total") > 0, { deadlineMs: 10_000, what: "a redelivery" });
    expect(wire.verbs("working")).toEqual([]);
    expect(sink.writes).toHaveLength(1);
    gate.open();
    await stage.settled();
    expect(sink.attempts(1)).toBe(1);
  });
});

describe.concurrent("FW-RUN-37 delivered again while held", () => {
  test("the sequence is not written again, and its ack goes to the newest reply subject only", async () => {
    await using stage = await Stage.open(nats.url);
    await using wire = await startWire(nats.port);
    await stage.fill(3);
    wire.dropToServer = (frame) => frame.payload.equals(Buffer.from("+WPI"));
    const gate = closedGate();
    const sink = new RecordingSink({ during: (_, signal) => gate.passed(signal) });
    await using pipeline = await startPipeline(
      stage,
      sink,
      overWire(wire, { consumer_management: { ack_wait_seconds: 1 }, delivery: { batch_size: 3 } }),
    );
    await eventually(() => pipeline.telemetry.counter("redelivered_while_held_total") === 3, {
      deadlineMs: 10_000,
      what: "three redeliveries",
    });
    gate.open();
    await stage.settled();
    expect(sink.stored).toHaveLength(3);
    expect([1, 2, 3].map((sequence) => sink.attempts(sequence))).toEqual([1, 1, 1]);
    expect(wire.verbs("ack").map(({ sequence, deliveryCount }) => [sequence, deliveryCount])).toEqual([
      [1, 2],
      [2, 2],
      [3, 2],
    ]);
    expect(pipeline.runner.status()).toMatchObject({ received: 3, stored: 3 });
  });

  test("no heartbeat follows a nak or an ack of the same delivery", async () => {
    await using stage = await Stage.open(nats.url);
    await using wire = await startWire(nats.port);
    await stage.fill(20);
    const sink = new RecordingSink({
      ...firstWriteTakes(700),
      outcome: ({ sequence, attempt }) => (sequence % 4 === 0 && attempt === 1 ? new TemporarySinkError("deadlock") : null),
    });
    const sections = {
      consumer_management: { ack_wait_seconds: 0.6 },
      delivery: { batch_size: 5, retry_backoff_ms: 900, retry_backoff_max_ms: 900 },
    };
    await using _pipeline = await startPipeline(stage, sink, overWire(wire, sections));
    await stage.settled();
    const settledSubjects = new Set<string>();
    const late: string[] = [];
    for (const { verb, subject } of wire.verbs()) {
      if (verb !== "working") settledSubjects.add(subject);
      else if (settledSubjects.has(subject)) late.push(subject);
    }
    expect(wire.verbs("working").length).toBeGreaterThan(0);
    expect(wire.verbs("nak")).toHaveLength(5);
    expect(late).toEqual([]);
  });
});

describe.concurrent("FW-RUN-16 limits of a lease", () => {
  test("a heartbeat that cannot be sent is tried again for that message, and the run goes on", async () => {
    await using stage = await Stage.open(nats.url);
    await using wire = await startWire(nats.port);
    await stage.fill(2);
    const gate = closedGate();
    const sink = new RecordingSink({ during: (_, signal) => gate.passed(signal) });
    await using pipeline = await startPipeline(stage, sink, overWire(wire, { consumer_management: { ack_wait_seconds: 3 } }));
    await eventually(() => wire.verbs("working").length >= 2, { deadlineMs: 10_000, what: "heartbeats" });
    wire.proxy.cut();
    const cutAt = performance.now();
    await eventually(() => wire.verbs("working").filter(({ at }) => at > cutAt).length >= 4, {
      deadlineMs: 15_000,
      what: "heartbeats after the cut",
    });
    gate.open();
    const info = await stage.settled();
    expect(info.delivered.consumer_seq).toBe(2);
    expect(sink.stored).toHaveLength(2);
    expect(pipeline.runner.status().healthy).toBe(true);
  });

  test("a write older than max_lease_ms is aborted by its signal; its messages are tried again", async () => {
    await using stage = await Stage.open(nats.url);
    await stage.fill(3);
    const sink = new RecordingSink({
      during: async (write, signal) => {
        if (write.number > 1) return;
        await aborted(signal).catch(() => undefined);
        throw new TemporarySinkError("given up");
      },
    });
    await using _pipeline = await startPipeline(stage, sink, { delivery: { in_progress: { max_lease_ms: 400 } } });
    await stage.settled();
    expect(sink.writes[0]).toMatchObject({ aborted: true, sequences: [1, 2, 3] });
    expect((sink.writes[0]?.endedAt ?? 0) - (sink.writes[0]?.startedAt ?? 0)).toBeGreaterThanOrEqual(395);
    expect(sink.missing(3)).toEqual([]);
  });

  test("a write that does not end after its abort: red write_stuck, its slot taken, its messages left to redelivery, never acked", async () => {
    await using stage = await Stage.open(nats.url);
    await using wire = await startWire(nats.port);
    await stage.fill(4);
    const gate = closedGate();
    const sink = new RecordingSink({ during: (write) => (write.number === 1 ? gate.passed() : undefined) });
    const sections = {
      consumer_management: { ack_wait_seconds: 1 },
      delivery: { batch_size: 2, linger_ms: 1000, max_in_flight_batches: 2, abort_grace_ms: 200, in_progress: { max_lease_ms: 300 } },
    };
    await using pipeline = await startPipeline(stage, sink, overWire(wire, sections));
    await eventually(() => pipeline.runner.status().reasons.some((reason) => reason.startsWith("write_stuck: 1 ")), {
      deadlineMs: 10_000,
      what: "red health",
    });
    await stage.settled();
    const acks = wire.verbs("ack").filter(({ sequence }) => sink.writes[0]?.sequences.includes(sequence));
    expect(acks.map(({ deliveryCount }) => deliveryCount)).toEqual([2, 2]);
    expect(sink.missing(4)).toEqual([]);
    expect(sink.peakWrites).toBe(2);
    const before = wire.verbs("ack").length;
    gate.open();
    await eventually(() => pipeline.runner.status().healthy, { deadlineMs: 5000, what: "green health" });
    // The late success is a duplicate that nobody acknowledges a second time.
    expect(sink.stored).toHaveLength(6);
    expect(wire.verbs("ack")).toHaveLength(before);
  });

  test("FW-RUN-38 an open breaker is no write: what waits is leased beyond max_lease_ms, a write that is longer is aborted all the same", async () => {
    await using stage = await Stage.open(nats.url);
    await using wire = await startWire(nats.port);
    await stage.fill(6);
    let away = true;
    const sink = new RecordingSink({
      during: async (write, signal) => {
        // One write hangs from before the outage on; its neighbour finds the destination away.
        if (write.number === 1) await aborted(signal).catch(() => Promise.reject(new TemporarySinkError("given up")));
        if (away) throw new DestinationUnavailableError("connection refused");
      },
    });
    const sections = {
      consumer_management: { ack_wait_seconds: 1 },
      delivery: { batch_size: 3, max_in_flight_batches: 2, max_messages_in_flight: 6, in_progress: { max_lease_ms: 500 } },
    };
    await using pipeline = await startPipeline(stage, sink, overWire(wire, sections));
    await red(pipeline, "destination_unavailable");
    const openedAt = performance.now();
    await eventually(() => sink.writes[0]?.aborted === true, { deadlineMs: 5000, what: "the long write to be aborted" });
    const { startedAt = 0, endedAt } = sink.writes[0] ?? {};
    expect((endedAt ?? 0) - startedAt).toBeGreaterThanOrEqual(495);
    expect((endedAt ?? 0) - startedAt).toBeLessThan(2000);
    // Five times the lease of a write and more than twice that of the server.
    await until(openedAt + 2500);
    expect(pipeline.runner.status().reasons.join()).toContain("destination_unavailable");
    expect(sink.stored).toEqual([]);
    for (const sequence of sink.writes[1]?.sequences ?? []) {
      expect(wire.verbs("working").some((beat) => beat.sequence === sequence && beat.at > openedAt + 1500)).toBe(true);
      expect(wire.verbs("nak").some((nak) => nak.sequence === sequence)).toBe(false);
    }
    away = false;
    await stage.settled();
    expect(sink.missing(6)).toEqual([]);
    for (const sequence of sink.writes[1]?.sequences ?? []) {
      expect(
        wire
          .verbs("ack")
          .filter((ack) => ack.sequence === sequence)
          .map(({ deliveryCount }) => deliveryCount),
      ).toEqual([1]);
    }
  });

  test("FW-RUN-38 messages in hold and under an open breaker are leased beyond max_lease_ms", async () => {
    await using stage = await Stage.open(nats.url);
    await stage.fill(1);
    const sink = new RecordingSink({ outcome: ({ attempt }) => (attempt <= 2 ? new TemporarySinkError("deadlock") : null) });
    const sections = {
      consumer_management: { ack_wait_seconds: 0.5 },
      delivery: { max_retries: 0, retry_backoff_ms: 1000, retry_backoff_max_ms: 1000, in_progress: { max_lease_ms: 100 } },
    };
    await using _pipeline = await startPipeline(stage, sink, sections);
    const info = await stage.settled();
    expect(info.delivered.consumer_seq).toBe(1);
    expect(sink.attempts(1)).toBe(3);
  });
});

describe("FW-RUN-17 a blocked event loop", () => {
  test("is measured and reported, and costs the leases of that time and nothing else", async () => {
    await using stage = await Stage.open(nats.url);
    await stage.fill(4);
    const gate = closedGate();
    const sink = new RecordingSink({ during: (_, signal) => gate.passed(signal) });
    await using pipeline = await startPipeline(stage, sink, {
      consumer_management: { ack_wait_seconds: 0.5 },
      delivery: { batch_size: 4 },
    });
    await eventually(() => sink.messagesInWrites === 4, { deadlineMs: 10_000, what: "the write" });
    const freeAt = performance.now() + 2300;
    while (performance.now() < freeAt);
    await eventually(() => pipeline.telemetry.counter("lost_leases_total") === 4, { deadlineMs: 10_000, what: "four lost leases" });
    gate.open();
    await stage.settled();
    // Whether the server delivered them again meanwhile or not, each is written once.
    expect(sink.stored).toHaveLength(4);
    const blocked = pipeline.telemetry.events.find(({ event }) => event === "the event loop was blocked");
    expect(blocked?.level).toBe("warn");
    expect(Number(blocked?.fields["ms"])).toBeGreaterThanOrEqual(2200);
  });

  for (const ordering of ["strict", "per_key"] as const) {
    test(`FW-RUN-13 costs no order: the lane waits for what comes again (${ordering})`, async () => {
      await using stage = await Stage.open(nats.url);
      await stage.fill(30, (index) => `key${index % 3}`);
      let blocked = false;
      const sink = new RecordingSink({
        orderedBatches: true,
        during: () => {
          if (blocked) return;
          blocked = true;
          const freeAt = performance.now() + 2300;
          while (performance.now() < freeAt);
        },
      });
      await using pipeline = await startPipeline(stage, sink, {
        consumer_management: { ack_wait_seconds: 0.5 },
        delivery: { ordering, batch_size: 4, max_in_flight_batches: 2 },
      });
      await stage.settled(30_000);
      // Whichever is seen first: that the lease is over, or that the server delivers again.
      const { telemetry } = pipeline;
      expect(telemetry.counter("lost_leases_total") + telemetry.counter("redelivered_while_held_total")).toBeGreaterThan(0);
      expect(pipeline.telemetry.texts("warn")).toContain("the event loop was blocked");
      expect(sink.missing(30)).toEqual([]);
      const keys = ordering === "strict" ? [undefined] : ["key0", "key1", "key2"].map((key) => stage.subject(key));
      for (const key of keys) {
        const first = [...new Set(sink.order(key))];
        expect(first).toEqual(first.toSorted((a, b) => a - b));
      }
    });
  }
});
