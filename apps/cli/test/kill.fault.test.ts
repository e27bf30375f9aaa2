import path from "node:path";
import { eventually, type NatsServer, startNats } from "@sinks/testing/services";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type PipelineCase, pipelineCase } from "./support/pipeline-case.js";
import { storedSequences } from "./support/stored-records.js";

const messages = 3000;
const rounds = 10;

let nats: NatsServer;
beforeAll(async () => {
  nats = await startNats();
});
afterAll(() => nats[Symbol.asyncDispose]());

/** On a work queue an acknowledged message is gone: what is neither stored nor left in the stream is lost. */
async function workQueue(job: PipelineCase): Promise<void> {
  await job.manager.streams.delete(job.stream);
  await job.manager.streams.add({ name: job.stream, subjects: [`${job.prefix}.>`], retention: "workqueue" });
}

async function leftInStream(job: PipelineCase): Promise<(sequence: number) => boolean> {
  const { state } = await job.manager.streams.info(job.stream, { deleted_details: true });
  const deleted = new Set(state.deleted ?? []);
  return (sequence) => state.messages > 0 && sequence >= state.first_seq && sequence <= state.last_seq && !deleted.has(sequence);
}

test.each(["one_file_per_message", "segments"])(
  "FW-CERT-02, FW-RUN-22, FW-CLI-07 %s: killed at random points, nothing is lost, and verify says so",
  async (mode) => {
    await using job = await pipelineCase(nats);
    await workQueue(job);
    const sequences: number[] = [];
    for (let from = 0; from < messages; from += 500) {
      sequences.push(...(await job.publish(Array.from({ length: 500 }, (_, index) => ({ subject: `${job.prefix}.${index % 7}` })))));
    }
    const configuration = await job.configure({
      sink: { type: "file", directory: "out", mode },
      consumer_management: { ack_wait_seconds: 1 },
      delivery: { batch_size: 50, max_messages_in_flight: 200 },
    });
    const folder = path.join(job.project.folder, "out");

    for (let round = 1; round <= rounds; round += 1) {
      const before = (await storedSequences(folder)).size;
      await using cli = job.start("run", configuration);
      const wanted = Math.min(messages, before + Math.ceil(Math.random() * (messages / rounds)));
      await eventually(async () => (await storedSequences(folder)).size >= wanted || !cli.running(), {
        deadlineMs: 30_000,
        what: `${wanted} stored messages in round ${round}`,
      });
      expect(cli.running(), cli.stderr()).toBe(true);
      cli.kill("SIGKILL");
      await cli.ended;
      const proof = await job.run("verify", configuration, "--format", "json");
      expect(proof.exitCode, `round ${round}: ${proof.stdout}${proof.stderr}`).toBe(0);
      const inStream = await leftInStream(job);
      const stored = await storedSequences(folder);
      expect(
        sequences.filter((sequence) => !stored.has(sequence) && !inStream(sequence)),
        `lost in round ${round}`,
      ).toEqual([]);
    }

    const { exitCode, stderr } = await job.run("run", configuration, "--once");
    expect(exitCode, stderr).toBe(0);
    const stored = await storedSequences(folder);
    expect(sequences.filter((sequence) => !stored.has(sequence))).toEqual([]);
    expect((await job.manager.streams.info(job.stream)).state.messages).toBe(0);
    const proof = await job.run("verify", configuration, "--format", "json");
    expect(proof.exitCode, `${proof.stdout}${proof.stderr}`).toBe(0);
    expect(JSON.parse(proof.stdout)).toMatchObject({ expected: messages, stored: messages, pending: 0, missing: [] });
  },
);
