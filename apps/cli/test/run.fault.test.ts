import { eventually, type NatsServer, startNats } from "@sinks/testing/services";
import { afterAll, beforeAll, expect, test } from "vitest";
import { logged, pipelineCase } from "./support/pipeline-case.js";
import { probeSettings } from "./support/settings.js";

let nats: NatsServer;
beforeAll(async () => {
  nats = await startNats();
});
afterAll(() => nats[Symbol.asyncDispose]());

const { plugins } = probeSettings() as { plugins: object };

async function stuck(delivery: object) {
  const job = await pipelineCase(nats);
  const behaviour = await job.project.file("behaviour", "stuck");
  const cli = job.start("run", await job.configure({ sink: { type: "probe", behaviour }, plugins, delivery }));
  await logged(cli, "ready");
  await job.publish([{ subject: `${job.prefix}.a` }]);
  await eventually(async () => (await job.manager.consumers.info(job.stream, "sink")).num_ack_pending === 1, {
    deadlineMs: 10_000,
    what: "a delivery",
  });
  return { job, cli };
}

test.each([
  ["SIGINT", 130],
  ["SIGTERM", 143],
] as const)("FW-RUN-28, FW-CLI-02 a second %s ends a run that does not drain at once, with %d", async (signal, expected) => {
  const { job, cli } = await stuck({ shutdown_timeout_ms: 600_000 });
  await using _job = job;
  await using _cli = cli;
  cli.kill(signal);
  await logged(cli, "stopping");
  cli.kill(signal);
  const { exitCode, stderr } = await cli.ended;
  expect(exitCode).toBe(expected);
  expect(stderr).toContain("left before drained");
});

test("FW-RUN-28 a write that never ends does not keep the process beyond shutdown_timeout_ms and abort_grace_ms", async () => {
  const { job, cli } = await stuck({ shutdown_timeout_ms: 500, abort_grace_ms: 300 });
  await using _job = job;
  await using _cli = cli;
  const asked = performance.now();
  cli.kill("SIGTERM");
  const { exitCode, stderr } = await cli.ended;
  expect(exitCode, stderr).toBe(1);
  expect(performance.now() - asked).toBeLessThan(500 + 300 + 1000 + 3000);
  expect((await job.manager.consumers.info(job.stream, "sink")).num_ack_pending).toBe(1);
});

test("FW-OBS-06 a reader of the log that goes away does not end the run", async () => {
  await using job = await pipelineCase(nats);
  await using cli = job.start("run", await job.configure({ logging: { level: "DEBUG" } }));
  await logged(cli, "ready");
  cli.closeOutputs();
  await job.publish(Array.from({ length: 10 }, () => ({ subject: `${job.prefix}.a` })));
  await eventually(async () => (await job.manager.consumers.info(job.stream, "sink")).ack_floor.stream_seq === 10, {
    deadlineMs: 20_000,
    what: "ten messages to be settled",
  });
  cli.kill("SIGTERM");
  expect((await cli.ended).exitCode).toBe(0);
});
