import { expect, test } from "vitest";
import { eventually } from "../../src/eventually.js";
import { startNatsCluster } from "../../src/service/nats-cluster.js";
import { green } from "./support/health.js";
import { startPipeline } from "./support/pipeline.js";
import { RecordingSink } from "./support/recording-sink.js";
import { Stage } from "./support/stage.js";

test("FW-RUN-06 FW-RUN-33 one node of three killed, the leader of the consumer: no message lost, none dead-lettered, nothing taken for a configuration error", async () => {
  await using cluster = await startNatsCluster();
  await using stage = await Stage.open(cluster.urls, { stream: { num_replicas: 3 }, deadLetters: true });
  const count = 1000;
  await stage.fill(count);
  const sink = new RecordingSink({ during: () => new Promise((done) => setImmediate(done)) });
  const sections = {
    delivery: { batch_size: 10, max_messages_in_flight: 100, ack_confirmation: { timeout_ms: 500 } },
    consumer_management: { ack_wait_seconds: 2 },
  };
  await using pipeline = await startPipeline(stage, sink, sections);
  await eventually(() => sink.distinct >= 200, { deadlineMs: 20_000, what: "the first ones", intervalMs: 1 });
  const leader = (await stage.consumerInfo()).cluster?.leader as string;
  await cluster.node(leader).kill();
  expect(sink.distinct).toBeLessThan(count);
  // While nobody leads, "JetStream is not enabled" and time-outs are all there is to hear.
  await stage.settled(45_000);
  expect(sink.missing(count)).toEqual([]);
  const letters = await eventually(() => stage.deadLetters(), { deadlineMs: 30_000, what: "the dead letters to have a leader again" });
  expect(letters).toEqual([]);
  await green(pipeline);
  expect((await stage.consumerInfo()).cluster?.leader).not.toBe(leader);
  expect(pipeline.runner.status().state).toBe("running");
});
