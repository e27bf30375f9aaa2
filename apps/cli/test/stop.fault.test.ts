import path from "node:path";
import { natsFilter, onSubject, startProxy } from "@sinks/testing/faults";
import { eventually, freePort, type NatsServer, startNats } from "@sinks/testing/services";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { CliProcess } from "./support/cli-process.js";
import { logged, type PipelineCase, pipelineCase } from "./support/pipeline-case.js";
import { storedSequences } from "./support/stored-records.js";

let nats: NatsServer;
beforeAll(async () => {
  nats = await startNats();
});
afterAll(() => nats[Symbol.asyncDispose]());

const bodies = (job: PipelineCase, count: number, body = "{}") =>
  Array.from({ length: count }, (_, index) => ({ subject: `${job.prefix}.${index % 7}`, body }));

const consumer = (job: PipelineCase) => job.manager.consumers.info(job.stream, "sink");

/** Asks the command to stop; answers how it ended and after how many ms. */
async function terminate(cli: CliProcess) {
  const asked = performance.now();
  cli.kill("SIGTERM");
  const result = await cli.ended;
  return { ...result, ms: performance.now() - asked };
}

describe("FW-RUN-28 SIGTERM at odd moments", () => {
  test("under load: exit 0, nothing in the hands of the consumer a second later, everything delivered is stored", async () => {
    await using job = await pipelineCase(nats);
    for (let from = 0; from < 4000; from += 500) await job.publish(bodies(job, 500));
    const configuration = await job.configure({
      sink: { type: "file", directory: "out", mode: "segments" },
      delivery: { batch_size: 20, max_messages_in_flight: 200 },
    });
    await using cli = job.start("run", configuration);
    await eventually(async () => (await consumer(job)).ack_floor.stream_seq >= 400, { deadlineMs: 20_000, what: "a tenth", intervalMs: 2 });
    const { exitCode, stderr } = await terminate(cli);
    expect(exitCode, stderr).toBe(0);
    const info = await eventually(
      async () => {
        const read = await consumer(job);
        return read.num_ack_pending === 0 ? read : null;
      },
      { deadlineMs: 1000, what: "nothing in the consumer's hands" },
    );
    expect(info.num_pending).toBeGreaterThan(0);
    const stored = await storedSequences(path.join(job.project.folder, "out"));
    expect(stored.size).toBe(info.ack_floor.stream_seq);
    expect([...stored.values()].every((copies) => copies === 1)).toBe(true);
  });

  test("while the server is still looked for: it leaves at once", async () => {
    await using job = await pipelineCase(nats);
    const configuration = await job.configure({
      nats: { url: `nats://127.0.0.1:${await freePort()}` },
      delivery: { start_timeout_ms: 600_000 },
    });
    await using cli = job.start("run", configuration);
    await logged(cli, "not ready yet");
    const { ms, exitCode, stderr } = await terminate(cli);
    expect(exitCode, stderr).toBe(0);
    expect(ms).toBeLessThan(3000);
  });

  test("during a reconnect: it leaves within its bounds, and what it held is stored by the next one", async () => {
    await using job = await pipelineCase(nats);
    await using proxy = await startProxy({ port: nats.port });
    const behaviour = await job.project.file("behaviour", "stuck");
    const probe = {
      sink: { type: "probe", behaviour },
      plugins: { enabled: true, allowed_sinks: ["probe"], require_production_ready: false },
    };
    const delivery = { shutdown_timeout_ms: 1000, abort_grace_ms: 500 };
    const management = { consumer_management: { ack_wait_seconds: 2 } };
    const through = { nats: { url: `nats://127.0.0.1:${proxy.port}` } };
    await using cli = job.start("run", await job.configure({ ...probe, ...management, ...through, delivery }));
    await logged(cli, "ready");
    await job.publish(bodies(job, 20));
    await eventually(async () => (await consumer(job)).num_ack_pending === 20, { deadlineMs: 10_000, what: "20 in hand" });
    await proxy.refuse();
    proxy.cut();
    await logged(cli, "connection lost");
    const { ms, exitCode, stderr } = await terminate(cli);
    // The write hangs and minds no signal: what it holds is left, and the command says so.
    expect(exitCode, stderr).toBe(1);
    // Both times, a second for the rest, and what a busy machine takes.
    expect(ms).toBeLessThan(1000 + 500 + 1000 + 3000);
    expect((await consumer(job)).ack_floor.stream_seq).toBe(0);
    await job.project.file("behaviour", "store");
    const next = await job.run("run", await job.configure({ ...probe, ...management }), "--once", "--format", "json");
    expect(next.exitCode, next.stderr).toBe(0);
    expect(JSON.parse(next.stdout)).toMatchObject({ stored: 20 });
  });

  test("FW-DLQ-01 during the publication of a dead letter: the original is not acknowledged, and the next one publishes it once", async () => {
    await using job = await pipelineCase(nats);
    let deaf = true;
    const isDeadLetter = onSubject(job.deadLetters.subject);
    await using proxy = await startProxy({ port: nats.port, toServer: natsFilter((frame) => deaf && isDeadLetter(frame)) });
    const sections = {
      sink: { type: "file", directory: "out", payload_mode: "json_only" },
      dead_letter: { enabled: true, subject: job.deadLetters.subject },
      delivery: { shutdown_timeout_ms: 1000, abort_grace_ms: 500 },
      consumer_management: { ack_wait_seconds: 2 },
    };
    await using cli = job.start("run", await job.configure({ ...sections, nats: { url: `nats://127.0.0.1:${proxy.port}` } }));
    await logged(cli, "ready");
    await job.publish([...bodies(job, 3), ...bodies(job, 1, "not JSON"), ...bodies(job, 3)]);
    await eventually(async () => (await storedSequences(path.join(job.project.folder, "out"))).size === 6, {
      deadlineMs: 10_000,
      what: "the neighbours",
    });
    await eventually(async () => (await consumer(job)).num_ack_pending === 1, { deadlineMs: 10_000, what: "the poison alone" });
    const { ms, exitCode, stderr } = await terminate(cli);
    expect(exitCode, stderr).toBe(0);
    expect(ms).toBeLessThan(1000 + 500 + 1000 + 3000);
    expect((await consumer(job)).ack_floor.stream_seq).toBe(3);
    expect((await job.manager.streams.info(job.deadLetters.stream)).state.messages).toBe(0);
    deaf = false;
    const next = await job.run("run", await job.configure(sections), "--once");
    expect(next.exitCode, next.stderr).toBe(0);
    expect((await job.manager.streams.info(job.deadLetters.stream)).state.messages).toBe(1);
    expect((await consumer(job)).num_ack_pending).toBe(0);
  });
});
