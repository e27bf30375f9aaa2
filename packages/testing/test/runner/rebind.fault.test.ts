import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { eventually } from "../../src/eventually.js";
import type { NatsServer } from "../../src/service/nats-server.js";
import { startNats } from "../../src/service/start-nats.js";
import { type RunningPipeline, startPipeline } from "./support/pipeline.js";
import { RecordingSink } from "./support/recording-sink.js";
import { Stage } from "./support/stage.js";

let nats: NatsServer;
beforeAll(async () => {
  nats = await startNats();
});
afterAll(() => nats[Symbol.asyncDispose]());

const red = (pipeline: RunningPipeline, word: string) =>
  eventually(() => pipeline.runner.status().reasons.some((reason) => reason.startsWith(word)), {
    deadlineMs: 10_000,
    what: `red health ${word}`,
  });

describe.concurrent("FW-RUN-05 FW-RUN-32 binding again", () => {
  test("recreate: what was acked long ago does not come again", async () => {
    await using stage = await Stage.open(nats.url);
    await stage.fill(50);
    const sink = new RecordingSink();
    await using pipeline = await startPipeline(stage, sink, { delivery: { on_consumer_missing: "recreate" } });
    await stage.settled();
    // The runner looks at its consumer every two seconds.
    await eventually(async () => pipeline.runner.status().inFlight === 0, { deadlineMs: 5000, what: "rest" });
    await stage.manager.consumers.delete(stage.name, stage.consumer);
    await eventually(() => stage.consumerInfo().catch(() => null), { deadlineMs: 10_000, what: "the consumer again" });
    await stage.fill(10);
    await eventually(() => sink.missing(60).length === 0, { deadlineMs: 15_000, what: "the new ones" });
    await stage.settled();
    expect(sink.stored).toHaveLength(60);
    const next = new RecordingSink();
    await pipeline.stop();
    // A later start takes the consumer that was made under way for what it is.
    await using _next = await startPipeline(stage, next);
    await stage.fill(1);
    await eventually(() => next.distinct === 1, { deadlineMs: 10_000, what: "the next process" });
  });

  test("FW-RUN-32 a consumer that returns with other settings makes health red and ends nothing", async () => {
    await using stage = await Stage.open(nats.url);
    await stage.fill(5);
    const sink = new RecordingSink();
    const sections = { consumer_management: { ack_wait_seconds: 20 } };
    await using pipeline = await startPipeline(stage, sink, sections);
    await stage.settled();
    await stage.manager.consumers.delete(stage.name, stage.consumer);
    await red(pipeline, "consumer_missing");
    await stage.addConsumer({ ack_wait: 30e9, max_deliver: 1 });
    await red(pipeline, "consumer_drift");
    expect(pipeline.runner.status().state).toBe("running");
  });
});
