import { PermanentSinkError } from "@sinks/core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { eventually } from "../../src/eventually.js";
import type { NatsServer } from "../../src/service/nats-server.js";
import { startNats } from "../../src/service/start-nats.js";
import { closedGate } from "./support/gate.js";
import { startPipeline } from "./support/pipeline.js";
import { RecordingSink } from "./support/recording-sink.js";
import { Stage } from "./support/stage.js";
import { overWire, type SeenVerb, startWire, watchAcks } from "./support/wire.js";

let nats: NatsServer;
beforeAll(async () => {
  nats = await startNats();
});
afterAll(() => nats[Symbol.asyncDispose]());

const sequences = (verbs: readonly SeenVerb[]): number[] => verbs.map(({ sequence }) => sequence);

describe.concurrent("FW-RUN-23 ack modes", () => {
  for (const [mode, asked] of [
    ["plain", []],
    ["batch_confirmed", [20, 40]],
    ["confirmed", Array.from({ length: 40 }, (_, index) => index + 1)],
  ] as const) {
    test(`${mode}: every message is acked once, and the server is asked to confirm ${asked.length} of 40`, async () => {
      await using stage = await Stage.open(nats.url);
      await using wire = await startWire(nats.port);
      await stage.fill(40);
      const sink = new RecordingSink();
      const early = watchAcks(wire, (sequence) => sink.copies(sequence) > 0);
      const delivery = { ack_mode: mode, batch_size: 20, max_in_flight_batches: 1, linger_ms: 2000 };
      await using pipeline = await startPipeline(stage, sink, overWire(wire, { delivery }));
      await stage.settled();
      const acks = wire.verbs("ack");
      expect(sink.writes.map((write) => write.sequences.length)).toEqual([20, 20]);
      expect(sequences(acks)).toEqual(Array.from({ length: 40 }, (_, index) => index + 1));
      expect(sequences(acks.filter(({ reply }) => reply !== null))).toEqual(asked);
      expect(early).toEqual([]);
      expect(pipeline.telemetry.counter("unconfirmed_acks_total")).toBe(0);
    });
  }

  test("ack_confirmation.enabled means confirmed, and the acks of a batch are sent without awaiting one another", async () => {
    await using stage = await Stage.open(nats.url);
    await using wire = await startWire(nats.port);
    await stage.fill(10);
    const lost = new Set<string>();
    // The first answer is kept back: the other nine acks must have left all the same.
    wire.dropToClient = ({ subject }) => {
      const first = wire.verbs("ack")[0]?.reply;
      if (subject === null || subject !== first || lost.size > 0) return false;
      lost.add(subject);
      return true;
    };
    const delivery = { batch_size: 10, linger_ms: 2000, ack_confirmation: { enabled: true, timeout_ms: 800 } };
    await using _pipeline = await startPipeline(stage, new RecordingSink(), overWire(wire, { delivery }));
    await eventually(() => wire.verbs("ack").length >= 10, { deadlineMs: 10_000, what: "ten acks" });
    const firstTen = wire.verbs("ack").slice(0, 10);
    expect(new Set(sequences(firstTen)).size).toBe(10);
    expect((firstTen.at(-1)?.at ?? 0) - (firstTen[0]?.at ?? 0)).toBeLessThan(500);
    await stage.settled();
  });
});

describe.concurrent("FW-RUN-24 confirmations", () => {
  test("one that does not come is asked for again by the same reply subject, and counts every message of the batch", async () => {
    await using stage = await Stage.open(nats.url);
    await using wire = await startWire(nats.port);
    await stage.fill(5);
    let dropped = 0;
    wire.dropToServer = (frame) => {
      const lose = frame.subject?.startsWith("$JS.ACK.") === true && frame.reply !== null && dropped < 1;
      if (lose) dropped += 1;
      return lose;
    };
    const delivery = { batch_size: 5, linger_ms: 2000, ack_confirmation: { timeout_ms: 300 } };
    const sink = new RecordingSink();
    await using pipeline = await startPipeline(stage, sink, overWire(wire, { delivery }));
    await stage.settled();
    await eventually(() => pipeline.runner.status().inFlight === 0, { deadlineMs: 5000, what: "the batch to be let go" });
    expect(dropped).toBe(1);
    const acks = wire.verbs("ack");
    // The whole batch again: nothing proves which of the plain ones arrived.
    expect(sequences(acks)).toEqual([1, 2, 3, 4, 1, 2, 3, 4, 5]);
    expect(new Set(acks.map(({ subject }) => subject)).size).toBe(5);
    expect(pipeline.telemetry.counter("unconfirmed_acks_total")).toBe(5);
    expect(sink.stored).toHaveLength(5);
  });

  test("FW-RUN-25 FW-RUN-27 after three times it is left to redelivery, counted, and the run goes on", async () => {
    await using stage = await Stage.open(nats.url);
    await using wire = await startWire(nats.port);
    await stage.fill(2);
    let deaf = true;
    wire.dropToServer = (frame) => deaf && frame.subject?.startsWith("$JS.ACK.") === true && !frame.payload.equals(Buffer.from("+WPI"));
    const delivery = { batch_size: 2, linger_ms: 2000, ack_confirmation: { timeout_ms: 150 } };
    const sink = new RecordingSink();
    const sections = { delivery, consumer_management: { ack_wait_seconds: 1 } };
    await using pipeline = await startPipeline(stage, sink, overWire(wire, sections));
    await eventually(() => pipeline.telemetry.texts("warn").includes("acks stayed unconfirmed; left to redelivery"), {
      deadlineMs: 10_000,
      what: "the acks to be given up",
    });
    expect(pipeline.telemetry.counter("unconfirmed_acks_total")).toBe(6);
    deaf = false;
    await stage.settled();
    // At least once: both came again and were written again.
    expect([sink.copies(1), sink.copies(2)]).toEqual([2, 2]);
    expect(wire.verbs("ack").every(({ deliveryCount }) => deliveryCount === 2)).toBe(true);
    expect(pipeline.runner.status().state).toBe("running");
  });

  test("FW-RUN-27 trouble with one batch's acks skips no other batch", async () => {
    await using stage = await Stage.open(nats.url);
    await using wire = await startWire(nats.port);
    await stage.fill(30);
    wire.dropToServer = (frame) => {
      const tokens = frame.subject?.split(".") ?? [];
      return (
        frame.subject?.startsWith("$JS.ACK.") === true &&
        Number(tokens.at(-4)) <= 10 &&
        Number(tokens.at(-5)) === 1 &&
        frame.payload[0] === 43
      );
    };
    const delivery = { batch_size: 10, linger_ms: 500, max_in_flight_batches: 3, ack_confirmation: { timeout_ms: 200 } };
    const sections = { delivery, consumer_management: { ack_wait_seconds: 1 } };
    const sink = new RecordingSink();
    await using _pipeline = await startPipeline(stage, sink, overWire(wire, sections));
    const acked = await eventually(
      async () => {
        const { num_ack_pending } = await stage.consumerInfo();
        return num_ack_pending === 10 && sink.distinct === 30 ? sequences(wire.verbs("ack")) : null;
      },
      { deadlineMs: 10_000, what: "the other two batches" },
    );
    expect(acked.sort((a, b) => a - b)).toEqual(Array.from({ length: 20 }, (_, index) => index + 11));
    await stage.settled();
  });
});

describe.concurrent("FW-RUN-25 a connection lost between write and ack", () => {
  for (const mode of ["plain", "batch_confirmed", "confirmed"]) {
    test(`${mode}: the acks of the write go out once the connection and the epoch are there again`, async () => {
      await using stage = await Stage.open(nats.url);
      await using wire = await startWire(nats.port);
      await stage.fill(6);
      const gate = closedGate();
      const sink = new RecordingSink({ during: (_, signal) => gate.passed(signal) });
      const delivery = { ack_mode: mode, batch_size: 6, linger_ms: 1000 };
      await using pipeline = await startPipeline(stage, sink, overWire(wire, { delivery }));
      await eventually(() => sink.messagesInWrites === 6, { deadlineMs: 10_000, what: "the write" });
      await wire.proxy.refuse();
      wire.proxy.cut();
      await eventually(() => pipeline.runner.status().reasons.some((reason) => reason.startsWith("disconnected")), {
        deadlineMs: 5000,
        what: "the loss to be noticed",
      });
      gate.open();
      await eventually(() => sink.distinct === 6, { deadlineMs: 5000, what: "the write to end" });
      await wire.proxy.pass();
      const info = await stage.settled();
      expect(info.delivered.consumer_seq).toBe(6);
      expect(sink.stored).toHaveLength(6);
      expect(sequences(wire.verbs("ack"))).toEqual([1, 2, 3, 4, 5, 6]);
      await eventually(() => pipeline.runner.status().healthy, { deadlineMs: 5000, what: "green health" });
    });
  }

  test("acks whose fate the cut hides are all sent again, the last confirmed", async () => {
    await using stage = await Stage.open(nats.url);
    await using wire = await startWire(nats.port);
    await stage.fill(4);
    let cut = false;
    // The plain ones pass; with the last one the connection breaks before anything is answered.
    wire.dropToServer = (frame) => {
      const last = frame.subject?.startsWith("$JS.ACK.") === true && frame.reply !== null && !cut;
      if (!last) return false;
      cut = true;
      wire.proxy.cut();
      return true;
    };
    const sink = new RecordingSink();
    await using pipeline = await startPipeline(stage, sink, overWire(wire, { delivery: { batch_size: 4, linger_ms: 2000 } }));
    const info = await stage.settled();
    expect(info.delivered.consumer_seq).toBe(4);
    expect(sequences(wire.verbs("ack"))).toEqual([1, 2, 3, 1, 2, 3, 4]);
    expect(wire.verbs("ack").at(-1)?.reply).not.toBeNull();
    expect(sink.stored).toHaveLength(4);
    expect(pipeline.telemetry.counter("unconfirmed_acks_total")).toBe(4);
  });
});

describe.concurrent("FW-RUN-27 FW-OBS-02 what stays unconfirmed", () => {
  for (const [verb, poisoned] of [
    ["+ACK", false],
    ["+TERM", true],
  ] as const) {
    test(`${verb} without an answer, three times: counted as an error, left to redelivery, and confirmed for the next delivery`, async () => {
      await using stage = await Stage.open(nats.url, { deadLetters: true });
      await using wire = await startWire(nats.port);
      await stage.fill(1);
      let lost = 0;
      wire.dropToServer = (frame) => {
        if (lost === 3 || frame.payload.toString("latin1") !== verb) return false;
        lost += 1;
        return true;
      };
      const sink = new RecordingSink({ outcome: () => (poisoned ? new PermanentSinkError("bad row") : null) });
      const sections = {
        consumer_management: { ack_wait_seconds: 1 },
        delivery: { ack_confirmation: { timeout_ms: 150 } },
        dead_letter: { ack_term_after_publish: true },
      };
      await using pipeline = await startPipeline(stage, sink, overWire(wire, sections));
      await stage.settled();
      const counted = () => pipeline.telemetry.counter(poisoned ? "messages_terminated_total" : "messages_acked_total");
      await eventually(() => counted() === 1, { deadlineMs: 5000, what: "the confirmation to be counted" });
      expect(lost).toBe(3);
      expect(pipeline.telemetry.counter("unconfirmed_acks_total")).toBe(3);
      expect(pipeline.telemetry.counter("ack_errors_total")).toBe(poisoned ? 0 : 1);
      expect(pipeline.telemetry.counter("term_errors_total")).toBe(poisoned ? 1 : 0);
      expect(wire.verbs(poisoned ? "term" : "ack").map(({ sequence, deliveryCount }) => [sequence, deliveryCount])).toEqual([[1, 2]]);
      expect(await stage.deadLetters()).toHaveLength(poisoned ? 1 : 0);
      expect(sink.copies(1)).toBe(poisoned ? 0 : 2);
    });
  }
});
