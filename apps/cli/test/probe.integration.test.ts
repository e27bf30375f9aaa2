import { type NatsServer, startNats } from "@sinks/testing/services";
import { afterAll, beforeAll, expect, test } from "vitest";
import { pipelineCase } from "./support/pipeline-case.js";
import { probeSettings } from "./support/settings.js";

let nats: NatsServer;
beforeAll(async () => {
  nats = await startNats();
});
afterAll(() => nats[Symbol.asyncDispose]());

test("WO-OB-01 messages of the stream are probed by sequence as one batch, and nothing is taken from the consumer", async () => {
  await using job = await pipelineCase(nats);
  const { sink, plugins } = probeSettings();
  const config = await job.configure({ sink: sink as object, plugins: plugins as object });
  await job.publish(["one", "two", "three"].map((body) => ({ subject: `${job.prefix}.a`, body })));
  const { exitCode, stdout, stderr } = await job.run("probe", config, "3", "1", "--show-values", "--format", "json");
  expect(exitCode, stderr).toBe(0);
  expect(JSON.parse(stdout).messages).toMatchObject([
    { subject: `${job.prefix}.a`, stream_sequence: 3, delivered: true, writes: [{ values: ["three"] }] },
    { stream_sequence: 1, writes: [{ values: ["one"] }] },
  ]);
  expect((await job.run("probe", config, "1", "9")).exitCode).toBe(4);
});
