import { PermanentSinkError, TemporarySinkError, UnknownOutcomeError } from "@sinks/core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { eventually } from "../../src/eventually.js";
import type { NatsServer } from "../../src/service/nats-server.js";
import { startNats } from "../../src/service/start-nats.js";
import { deadLettered, gone, watchForLoss } from "./support/accounting.js";
import { startPipeline } from "./support/pipeline.js";
import { RecordingSink } from "./support/recording-sink.js";
import { Stage } from "./support/stage.js";
import { overWire, startWire } from "./support/wire.js";

let nats: NatsServer;
beforeAll(async () => {
  nats = await startNats();
});
afterAll(() => nats[Symbol.asyncDispose]());

const count = 600;

/** Failures of every kind, the same for every run of a sequence. */
const troubled = () =>
  new RecordingSink({
    during: () => new Promise((done) => setImmediate(done)),
    outcome: ({ sequence, attempt }) => {
      if (attempt === 1 && sequence % 13 === 0) return new TemporarySinkError("deadlock");
      if (attempt === 1 && sequence % 29 === 0) return new UnknownOutcomeError("connection reset");
      return null;
    },
  });

describe.concurrent("streams on which an ack removes the message", () => {
  for (const retention of ["workqueue", "interest"] as const) {
    for (const ordering of ["none", "per_key"] as const) {
      test(`FW-RUN-22 ${retention}, ordering ${ordering}: at each moment a message is stored or in the stream, through cuts and restarts of the runner`, async () => {
        await using stage = await Stage.open(nats.url, { stream: { retention } });
        await using wire = await startWire(nats.port);
        const sections = overWire(wire, {
          delivery: { ordering, batch_size: 20, max_retries: 1000, shutdown_timeout_ms: 1000, ack_confirmation: { timeout_ms: 500 } },
          consumer_management: { ack_wait_seconds: 1 },
        });
        const sinks = [troubled(), troubled(), troubled()] as const;
        const watching = new AbortController();
        // On an interest stream the consumer must be there before the messages are.
        let pipeline = await startPipeline(stage, sinks[0], sections);
        await stage.fill(count, (index) => `k${index % 7}`);
        const watch = watchForLoss(stage, sinks, watching.signal);
        const stored = () => new Set(sinks.flatMap((sink) => sink.order())).size;
        await eventually(() => stored() >= 150, { deadlineMs: 15_000, what: "150 stored", intervalMs: 1 });
        wire.proxy.cut();
        await eventually(() => stored() >= 250, { deadlineMs: 20_000, what: "250 stored", intervalMs: 1 });
        await pipeline.stop();
        pipeline = await startPipeline(stage, sinks[1], sections);
        await eventually(() => stored() >= 400, { deadlineMs: 30_000, what: "400 stored", intervalMs: 1 });
        // This one dies: nothing of what it sends at its end arrives.
        await wire.proxy.refuse();
        wire.proxy.cut();
        await pipeline.stop();
        await wire.proxy.pass();
        pipeline = await startPipeline(stage, sinks[2], sections);
        await eventually(async () => (await stage.streamState()).messages === 0, { deadlineMs: 30_000, what: "an empty stream" });
        watching.abort();
        const { lost, looks } = await watch;
        await pipeline.stop();
        expect(lost).toEqual([]);
        expect(looks).toBeGreaterThan(10);
        expect(stored()).toBe(count);
      });
    }
  }

  test("a work queue with poison: what left it is stored or a dead letter, never neither", async () => {
    await using stage = await Stage.open(nats.url, { stream: { retention: "workqueue" }, deadLetters: true });
    await stage.fill(200);
    const sink = new RecordingSink({ outcome: ({ sequence }) => (sequence % 10 === 0 ? new PermanentSinkError("bad row") : null) });
    await using _pipeline = await startPipeline(stage, sink, { delivery: { batch_size: 10 } });
    const neither: number[] = [];
    await eventually(
      async () => {
        // First what is gone, then what there is for it.
        const left = await gone(stage);
        const letters = await deadLettered(stage);
        neither.push(...left.filter((sequence) => sink.copies(sequence) === 0 && !letters.has(sequence)));
        return left.length === 200;
      },
      { deadlineMs: 20_000, what: "an empty queue" },
    );
    expect(neither).toEqual([]);
    const letters = await deadLettered(stage);
    expect(letters).toEqual(new Set(Array.from({ length: 20 }, (_, index) => 10 * (index + 1))));
    expect(sink.missing(200)).toEqual([...letters].toSorted((a, b) => a - b));
  });
});
