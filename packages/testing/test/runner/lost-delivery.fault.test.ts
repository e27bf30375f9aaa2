import { UnknownOutcomeError } from "@sinks/core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { eventually } from "../../src/eventually.js";
import type { NatsServer } from "../../src/service/nats-server.js";
import { startNats } from "../../src/service/start-nats.js";
import { startPipeline } from "./support/pipeline.js";
import { RecordingSink } from "./support/recording-sink.js";
import { Stage } from "./support/stage.js";
import { overWire, startWire } from "./support/wire.js";

let nats: NatsServer;
beforeAll(async () => {
  nats = await startNats();
});
afterAll(() => nats[Symbol.asyncDispose]());

const upTo = (count: number): number[] => Array.from({ length: count }, (_, index) => index + 1);

describe.concurrent("FW-RUN-13 deliveries that are lost on the way", () => {
  for (const [ordering, delivery] of [
    ["strict", { batch_size: 1, max_in_flight_batches: 1 }],
    ["strict", { batch_size: 7, max_in_flight_batches: 1 }],
    ["per_key", { batch_size: 4, max_in_flight_batches: 2 }],
  ] as const) {
    test(`a delivery that is lost with the connection is not overtaken, and its lane does not stand still (${ordering}, ${delivery.batch_size} a batch)`, async () => {
      await using stage = await Stage.open(nats.url);
      await using wire = await startWire(nats.port);
      await stage.fill(60);
      let state: "whole" | "broken" | "new" = "whole";
      // From the tenth message on everything is lost, until the next connection greets.
      wire.dropToClient = (frame) => {
        if (frame.verb === "INFO" && state === "broken") state = "new";
        if (state === "whole" && frame.reply?.startsWith("$JS.ACK.") === true && frame.reply.split(".").at(-4) === "10") {
          state = "broken";
          setImmediate(() => wire.proxy.cut());
        }
        return state === "broken";
      };
      const sink = new RecordingSink();
      const sections = { delivery: { ordering, ...delivery }, consumer_management: { ack_wait_seconds: 1 } };
      await using _pipeline = await startPipeline(stage, sink, overWire(wire, sections));
      await stage.settled(30_000);
      expect(state).toBe("new");
      expect([...new Set(sink.order())]).toEqual(upTo(60));
    });
  }

  test("FW-RUN-13 a full flight of later messages does not keep the awaited one from coming", async () => {
    await using stage = await Stage.open(nats.url);
    await stage.fill(50);
    const sink = new RecordingSink({
      retrySafety: "unsafe",
      outcome: ({ sequence, attempt }) => (sequence % 10 === 1 && attempt === 1 ? new UnknownOutcomeError("connection reset") : null),
    });
    const delivery = { ordering: "strict", batch_size: 1, max_in_flight_batches: 1, max_messages_in_flight: 2, retry_backoff_ms: 100 };
    await using _pipeline = await startPipeline(stage, sink, { delivery });
    await stage.settled();
    expect(sink.order()).toEqual(Array.from({ length: 50 }, (_, index) => index + 1));
  });

  test("FW-RUN-05 a message that is awaited when the consumer is made again keeps its place", async () => {
    await using stage = await Stage.open(nats.url);
    await stage.fill(12);
    const sink = new RecordingSink({
      retrySafety: "unsafe",
      outcome: ({ sequence, attempt }) => (sequence === 3 && attempt === 1 ? new UnknownOutcomeError("connection reset") : null),
    });
    const delivery = {
      ordering: "per_key",
      batch_size: 4,
      retry_backoff_ms: 60_000,
      retry_backoff_max_ms: 60_000,
      on_consumer_missing: "recreate",
    };
    await using _pipeline = await startPipeline(stage, sink, { delivery });
    await eventually(() => sink.attempts(3) === 1, { deadlineMs: 10_000, what: "the unknown outcome" });
    await stage.manager.consumers.delete(stage.name, stage.consumer);
    await eventually(() => sink.distinct === 12, { deadlineMs: 20_000, what: "all by the new consumer" });
    expect([...new Set(sink.order())]).toEqual(upTo(12));
    await stage.settled();
  });
});
