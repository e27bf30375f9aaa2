import { ConfigurationError, PermanentSinkError, type Sink, SinkContractError, TemporarySinkError, UnknownOutcomeError } from "@sinks/core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { eventually } from "../../src/eventually.js";
import type { NatsServer } from "../../src/service/nats-server.js";
import { startNats } from "../../src/service/start-nats.js";
import { runOnce, startPipeline } from "./support/pipeline.js";
import { RecordingSink, type Write } from "./support/recording-sink.js";
import { Stage } from "./support/stage.js";
import { overWire, startWire } from "./support/wire.js";

let nats: NatsServer;
beforeAll(async () => {
  nats = await startNats();
});
afterAll(() => nats[Symbol.asyncDispose]());

/** A sink whose answer to a batch is this, whatever it is. */
function answering(answer: (count: number) => unknown): Pick<RecordingSink, "create"> {
  const nothing = async (): Promise<void> => undefined;
  return {
    create: () => ({ start: nothing, stop: nothing, writeBatch: async (messages) => answer(messages.length) as never }) satisfies Sink,
  };
}

/** Refuses a whole batch for good as soon as one of these sequences is in it. */
const refusesBatchWith =
  (...sequences: number[]) =>
  (write: Write): void => {
    if (write.sequences.some((sequence) => sequences.includes(sequence))) throw new PermanentSinkError("bad row");
  };

describe.concurrent("FW-ERR-02 answers of a sink", () => {
  test("resolving with nothing means that every message is durable", async () => {
    await using stage = await Stage.open(nats.url);
    await stage.fill(25);
    const summary = await runOnce(
      stage,
      answering(() => undefined),
    );
    expect(summary).toMatchObject({ received: 25, stored: 25, complete: true });
    await stage.settled();
  });

  for (const [name, answer] of [
    ["too few outcomes", (count: number) => new Array(count - 1).fill(null)],
    ["too many outcomes", (count: number) => new Array(count + 1).fill(null)],
    ["an outcome of another kind", (count: number) => [new Error("plain"), ...new Array(count - 1).fill(null)]],
    ["something other than a list", () => ({ length: 3 })],
    ["a thrown contract error", () => Promise.reject(new SinkContractError("own bug"))],
  ] as const) {
    test(`${name}: paused unhealthy as sink_contract, nothing of the batch is acked or dead-lettered`, async () => {
      await using stage = await Stage.open(nats.url, { deadLetters: true });
      await stage.fill(3);
      await using pipeline = await startPipeline(stage, answering(answer), { delivery: { batch_size: 3 } });
      await eventually(() => pipeline.runner.status().reasons.join().includes("paused: sink_contract"), {
        deadlineMs: 10_000,
        what: "the pause",
      });
      const info = await stage.consumerInfo();
      expect(info.ack_floor.stream_seq).toBe(0);
      expect(info.num_ack_pending).toBe(info.delivered.consumer_seq);
      expect(pipeline.runner.status()).toMatchObject({ stored: 0, deadLettered: 0 });
      expect(await stage.deadLetters()).toEqual([]);
    });
  }

  test("FW-ERR-01 a configuration error from a write pauses, dead-letters nothing, and goes on after a repair", async () => {
    await using stage = await Stage.open(nats.url, { deadLetters: true });
    await stage.fill(5);
    let repaired = false;
    const sink = new RecordingSink({
      during: () => {
        if (!repaired) throw new ConfigurationError("the table is gone");
      },
    });
    await using pipeline = await startPipeline(stage, sink);
    await eventually(() => pipeline.runner.status().reasons.join().startsWith("paused: configuration_invalid"), {
      deadlineMs: 10_000,
      what: "the pause",
    });
    expect(await stage.deadLetters()).toEqual([]);
    repaired = true;
    pipeline.runner.resume();
    const info = await stage.settled();
    expect(info.delivered.consumer_seq).toBe(5);
    expect(sink.missing(5)).toEqual([]);
    expect(pipeline.runner.status().healthy).toBe(true);
  });

  test("a mixed answer: each message has its own outcome", async () => {
    await using stage = await Stage.open(nats.url, { deadLetters: true });
    await stage.fill(9);
    const sink = new RecordingSink({
      outcome: ({ sequence, attempt }) => {
        if (sequence % 3 === 1) return null;
        if (sequence % 3 === 2) return attempt === 1 ? new TemporarySinkError("deadlock") : null;
        return new PermanentSinkError("bad row");
      },
    });
    const summary = await runOnce(stage, sink);
    expect(summary).toMatchObject({ stored: 6, deadLettered: 3, retried: 3, complete: true });
    expect((await stage.deadLetters()).map(({ record }) => record["stream_sequence"]).sort()).toEqual([3, 6, 9]);
  });
});

describe.concurrent("FW-ERR-03 a batch refused as a whole", () => {
  test("a sink that is safe to repeat gets halves until single messages bear it", async () => {
    await using stage = await Stage.open(nats.url, { deadLetters: true });
    await stage.fill(64);
    const sink = new RecordingSink({ retrySafety: "safe", during: refusesBatchWith(11, 50) });
    const summary = await runOnce(stage, sink, { delivery: { batch_size: 64, linger_ms: 300 } });
    expect(summary).toMatchObject({ stored: 62, deadLettered: 2, complete: true });
    expect((await stage.deadLetters()).map(({ record }) => record["stream_sequence"]).sort()).toEqual([11, 50]);
    for (const sequence of [11, 50])
      expect(sink.writes.findLast(({ sequences }) => sequences.includes(sequence))?.sequences).toEqual([sequence]);
    expect(sink.stored).toHaveLength(62);
    // All within the first delivery.
    expect((await stage.consumerInfo()).delivered.consumer_seq).toBe(64);
  });

  test("an unsafe sink gets each message alone later, without budget, and only the bad one is dead-lettered", async () => {
    await using stage = await Stage.open(nats.url, { deadLetters: true });
    await stage.fill(12);
    const sink = new RecordingSink({ retrySafety: "unsafe", during: refusesBatchWith(5) });
    const summary = await runOnce(stage, sink, { delivery: { batch_size: 12, max_retries: 0, linger_ms: 200 } });
    expect(summary).toMatchObject({ stored: 11, deadLettered: 1, complete: true });
    expect((await stage.deadLetters()).map(({ record }) => [record["stream_sequence"], record["error_type"]])).toEqual([
      [5, "PermanentSinkError"],
    ]);
    const refused = sink.writes.filter(({ sequences }) => sequences.includes(5));
    expect(refused.at(-1)?.sequences).toEqual([5]);
    const companions = refused[0]?.sequences ?? [];
    expect(companions.length).toBeGreaterThan(1);
    for (const sequence of companions)
      expect(sink.writes.findLast(({ sequences }) => sequences.includes(sequence))?.sequences).toEqual([sequence]);
  });

  test("a delivery with a count above 3 is always written singly to an unsafe sink", async () => {
    await using stage = await Stage.open(nats.url);
    await stage.fill(3);
    await stage.addConsumer();
    const consumer = await stage.client.consumers.get(stage.name, stage.consumer);
    for (let round = 0; round < 3; round += 1) {
      for await (const message of await consumer.fetch({ max_messages: 3, expires: 1000 })) message.nak();
    }
    const sink = new RecordingSink();
    await runOnce(stage, sink);
    expect(sink.writes.map(({ sequences }) => sequences.length)).toEqual([1, 1, 1]);
    expect(sink.writes.flatMap(({ attempts }) => attempts).every(({ deliveryCount }) => deliveryCount === 4)).toBe(true);
  });

  test("in an ordered lane an unsafe refusal stays in place and in order", async () => {
    await using stage = await Stage.open(nats.url, { deadLetters: true });
    await stage.fill(10);
    const sink = new RecordingSink({ retrySafety: "unsafe", orderedBatches: true, during: refusesBatchWith(4) });
    const summary = await runOnce(stage, sink, { delivery: { ordering: "strict", batch_size: 10 } });
    expect(summary).toMatchObject({ stored: 9, deadLettered: 1, complete: true });
    expect(sink.order()).toEqual([1, 2, 3, 5, 6, 7, 8, 9, 10]);
  });
});

describe.concurrent("FW-ERR-04 one message and its neighbours", () => {
  for (const [kind, plan] of [
    [
      "by its own outcome",
      { outcome: ({ sequence }: { sequence: number }) => (sequence === 500 ? new PermanentSinkError("bad row") : null) },
    ],
    ["by refusing the batch, safe to repeat", { retrySafety: "safe" as const, during: refusesBatchWith(500) }],
    ["by refusing the batch, unsafe", { retrySafety: "unsafe" as const, during: refusesBatchWith(500) }],
  ] as const) {
    test(`one poison among 1000, ${kind}: 999 stored, one dead letter, no neighbour retried later than needed`, async () => {
      await using stage = await Stage.open(nats.url, { deadLetters: true });
      await using wire = await startWire(nats.port);
      await stage.fill(1000);
      const sink = new RecordingSink({ ...plan });
      const summary = await runOnce(
        stage,
        sink,
        overWire(wire, { delivery: { batch_size: 100, retry_backoff_ms: 30_000, retry_backoff_max_ms: 60_000 } }),
      );
      expect(summary).toMatchObject({ received: expect.any(Number), stored: 999, deadLettered: 1, held: 0, complete: true });
      expect(sink.missing(1000)).toEqual([500]);
      expect(sink.stored).toHaveLength(999);
      const letters = await stage.deadLetters();
      expect(letters.map(({ record }) => record["stream_sequence"])).toEqual([500]);
      // The policy's delay of 30 s is for nobody: no message waited for it.
      expect(wire.verbs("nak").every(({ delayMs }) => (delayMs ?? 0) < 100)).toBe(true);
      if (!("retrySafety" in plan && plan.retrySafety === "unsafe")) {
        expect(wire.verbs("nak")).toEqual([]);
        expect((await stage.consumerInfo()).delivered.consumer_seq).toBe(1000);
      }
    });
  }

  test("a temporary failure of one message delays none of its batch", async () => {
    await using stage = await Stage.open(nats.url);
    await stage.fill(50);
    const sink = new RecordingSink({
      outcome: ({ sequence, attempt }) => (sequence === 20 && attempt === 1 ? new TemporarySinkError("deadlock") : null),
    });
    await using _pipeline = await startPipeline(stage, sink, {
      delivery: { batch_size: 50, retry_backoff_ms: 1500, retry_backoff_max_ms: 1500 },
    });
    await eventually(async () => (await stage.consumerInfo()).num_ack_pending === 1 && sink.distinct === 49, {
      deadlineMs: 1400,
      what: "49 to be acked before the retry",
    });
    await stage.settled();
    expect(sink.missing(50)).toEqual([]);
  });

  test("an unknown outcome is repeated at once where that is safe, and counted as a possible duplicate where it is not", async () => {
    await using stage = await Stage.open(nats.url);
    await using wire = await startWire(nats.port);
    await stage.fill(4);
    const outcome = ({ sequence, attempt }: { sequence: number; attempt: number }) =>
      sequence === 2 && attempt === 1 ? new UnknownOutcomeError("connection reset") : null;
    const unsafe = new RecordingSink({ retrySafety: "unsafe", outcome });
    const summary = await runOnce(stage, unsafe, overWire(wire));
    expect(summary).toMatchObject({ stored: 4, complete: true });
    expect(summary.telemetry.counter("possible_duplicates_total")).toBe(1);
    expect(unsafe.attempts(2)).toBe(2);
  });
});
