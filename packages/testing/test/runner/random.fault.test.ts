import {
  DestinationUnavailableError,
  NotAttemptedError,
  PermanentSinkError,
  TemporarySinkError,
  UnknownOutcomeError,
  type WriteOutcome,
} from "@sinks/core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { eventually } from "../../src/eventually.js";
import type { NatsServer } from "../../src/service/nats-server.js";
import { startNats } from "../../src/service/start-nats.js";
import { type RunningPipeline, startPipeline } from "./support/pipeline.js";
import { RecordingSink } from "./support/recording-sink.js";
import { SeededRandom } from "./support/seeded-random.js";
import { Stage } from "./support/stage.js";
import { overWire, startWire, type Wire, watchAcks, watchDeadLetters } from "./support/wire.js";

let nats: NatsServer;
beforeAll(async () => {
  nats = await startNats();
});
afterAll(() => nats[Symbol.asyncDispose]());

const count = 240;
const keys = 6;
const keyOf = (sequence: number): number => (sequence - 1) % keys;
const isPoison = (sequence: number): boolean => sequence % 37 === 0;

/** A sink with every kind of failure; `record` is shared by all processes of a run. */
function moody(random: SeededRandom, ordered: boolean): RecordingSink {
  let away = 0;
  const outcome = (sequence: number): WriteOutcome => {
    if (isPoison(sequence)) return new PermanentSinkError("bad row");
    if (away > 0) {
      away -= 1;
      return new DestinationUnavailableError("failover");
    }
    if (random.chance(0.004)) away = 12;
    if (random.chance(0.03)) return new TemporarySinkError("deadlock");
    if (random.chance(0.01)) return new UnknownOutcomeError("connection reset");
    return random.chance(0.02) ? new NotAttemptedError("not sent") : null;
  };
  const retrySafety = random.pick(["safe", "unsafe"] as const);
  const yields = random.chance(0.5);
  return new RecordingSink({
    retrySafety,
    ...(ordered && random.chance(0.5) ? { orderedBatches: true as const } : {}),
    during: async () => {
      if (yields) await new Promise((done) => setImmediate(done));
      if (random.chance(0.01)) throw new TemporarySinkError("the whole batch");
    },
    outcome: ({ sequence }) => outcome(sequence),
  });
}

/** What happens to a runner next: its connection is cut, it stops in order, or it dies with everything it would still say. */
async function disturb(
  random: SeededRandom,
  wire: Wire,
  pipeline: RunningPipeline,
  restart: () => Promise<RunningPipeline>,
): Promise<RunningPipeline> {
  const kind = random.pick(["cut", "stop", "die"]);
  if (kind === "cut") {
    wire.proxy.cut();
    return pipeline;
  }
  if (kind === "die") {
    await wire.proxy.refuse();
    wire.proxy.cut();
  }
  await pipeline.stop();
  await wire.proxy.pass();
  return restart();
}

/** Sequences of each key in the order in which they first became durable, where that order is not the stream's. */
function outOfOrder(sink: RecordingSink): number[][] {
  const found: number[][] = [];
  for (let key = 0; key < keys; key += 1) {
    const first = [...new Set(sink.order().filter((sequence) => keyOf(sequence) === key))];
    const sorted = first.toSorted((a, b) => a - b);
    if (first.join() !== sorted.join()) found.push(first);
  }
  return found;
}

describe.concurrent("FW-RUN-13 FW-RUN-22 FW-RUN-25 seeded runs with failures of every kind, cuts, stops and deaths", () => {
  for (const seed of [1, 2, 3, 4, 5, 6, 7, 8]) {
    test(`seed ${seed}: everything is stored or dead-lettered, no ack goes first, orders are kept`, async () => {
      const random = new SeededRandom(seed);
      const ordering = random.pick(["none", "per_key", "strict"]);
      const retention = random.pick(["limits", "workqueue"] as const);
      const batch_size = random.pick([1, 7, 40]);
      await using stage = await Stage.open(nats.url, { deadLetters: true, stream: { retention } });
      await using wire = await startWire(nats.port);
      const sink = moody(random, ordering !== "none");
      const confirmed = watchDeadLetters(wire, `${stage.name}.dead`);
      const early = watchAcks(wire, (sequence) => (isPoison(sequence) ? confirmed.has(sequence) : sink.copies(sequence) > 0));
      const sections = overWire(wire, {
        delivery: {
          ordering,
          ack_mode: random.pick(["plain", "batch_confirmed", "confirmed"]),
          batch_size,
          max_in_flight_batches: random.pick([1, 2, 6]),
          ...(random.chance(0.3) ? { max_messages_in_flight: batch_size + Math.floor(random.next() * 10) } : {}),
          temporary_failure_action: random.pick(["nak", "nak", "leave_unacked"]),
          linger_ms: random.pick([0, 0, 20]),
          max_retries: 100_000,
          retry_backoff_ms: 5,
          retry_backoff_max_ms: 50,
          retry_jitter: random.pick(["none", "full", "equal"]),
          shutdown_timeout_ms: 600,
          abort_grace_ms: 300,
          ack_confirmation: { timeout_ms: 400 },
        },
        consumer_management: random.chance(0.3) ? { backoff_seconds: [0.8, 1.5], max_deliver: 1000 } : { ack_wait_seconds: 1 },
      });
      const start = () => startPipeline(stage, sink, sections);
      let pipeline = await start();
      try {
        await stage.fill(count, (index) => `k${index % keys}`);
        for (const share of [0.2, 0.45, 0.7]) {
          await eventually(() => sink.distinct >= share * count, { deadlineMs: 40_000, what: `${share} stored`, intervalMs: 2 });
          pipeline = await disturb(random, wire, pipeline, start);
        }
        await stage.settled(60_000);
      } finally {
        await pipeline.stop();
      }
      const letters = (await stage.deadLetters()).map(({ record }) => Number(record["stream_sequence"]));
      const poison = Array.from({ length: count }, (_, index) => index + 1).filter(isPoison);
      expect(sink.missing(count)).toEqual(poison);
      // Each once, however often its publication was repeated.
      expect(letters.toSorted((a, b) => a - b)).toEqual(poison);
      expect(early).toEqual([]);
      // Otherwise the watch over the dead letters would have seen nothing.
      expect([...confirmed].toSorted((a, b) => a - b)).toEqual(poison);
      if (ordering !== "none") expect(outOfOrder(sink)).toEqual([]);
      if (ordering === "strict") expect([...new Set(sink.order())]).toEqual([...new Set(sink.order())].toSorted((a, b) => a - b));
    });
  }
});
