import { readdir } from "node:fs/promises";
import path from "node:path";
import { mountSmall, type SmallMount } from "@sinks/testing/faults";
import { eventually, type NatsServer, startNats } from "@sinks/testing/services";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { logged, type PipelineCase, pipelineCase } from "./support/pipeline-case.js";
import { storedSequences } from "./support/stored-records.js";

let nats: NatsServer;
beforeAll(async () => {
  nats = await startNats();
});
afterAll(() => nats[Symbol.asyncDispose]());

const consumer = (job: PipelineCase) => job.manager.consumers.info(job.stream, "sink");
const publish = (job: PipelineCase, count: number) =>
  job.publish(Array.from({ length: count }, () => ({ subject: `${job.prefix}.a`, body: JSON.stringify("x".repeat(3000)) })));
const settled = (job: PipelineCase, count: number) =>
  eventually(
    async () => {
      const info = await consumer(job);
      return info.ack_floor.stream_seq === count ? info : null;
    },
    { deadlineMs: 20_000, what: `${count} settled` },
  );

interface Trouble {
  readonly name: string;
  readonly mode: string;
  begin(mount: SmallMount): Promise<void>;
  end(mount: SmallMount): Promise<void>;
}

const full = { name: "is full", begin: (mount: SmallMount) => mount.fill(), end: (mount: SmallMount) => mount.free() };
const troubles: readonly Trouble[] = [
  { ...full, mode: "one_file_per_message" },
  { ...full, mode: "segments" },
  {
    name: "turns read-only",
    mode: "one_file_per_message",
    begin: (mount) => mount.readOnly(true),
    end: (mount) => mount.readOnly(false),
  },
];

describe("FW-FILE-07 FW-RUN-19 a disk that takes nothing", () => {
  for (const { name, mode, begin, end } of troubles) {
    test(`${mode}: a disk that ${name}: held without a redelivery or a dead letter, nothing half-visible, all stored without a restart`, async (context) => {
      const { mount, reason } = await mountSmall(1024 * 1024);
      if (mount === null) return context.skip(reason);
      await using _mount = mount;
      await using job = await pipelineCase(nats);
      const directory = path.join(mount.folder, "out");
      const configuration = await job.configure({
        sink: { type: "file", directory, mode },
        // One failure that counted would end as a dead letter, and one lease that was lost as another delivery.
        delivery: { max_retries: 0, batch_size: 5, retry_backoff_ms: 50, retry_backoff_max_ms: 300 },
        consumer_management: { ack_wait_seconds: 1 },
        dead_letter: { enabled: true, subject: job.deadLetters.subject },
      });
      await using cli = job.start("run", configuration, "--format", "json");
      await logged(cli, "ready");
      await publish(job, 5);
      await settled(job, 5);
      await begin(mount);
      await publish(job, 20);
      await logged(cli, "destination_unavailable");
      const since = performance.now();
      await eventually(() => performance.now() - since > 2500, { deadlineMs: 5000, what: "more than two leases" });
      expect(cli.running()).toBe(true);
      const held = await consumer(job);
      expect(held).toMatchObject({ num_redelivered: 0, ack_floor: { stream_seq: 5 } });
      expect(held.num_ack_pending).toBeGreaterThan(0);
      expect([...(await storedSequences(directory)).keys()]).toEqual([1, 2, 3, 4, 5]);
      await end(mount);
      const info = await settled(job, 25);
      expect(info).toMatchObject({ num_redelivered: 0, delivered: { consumer_seq: 25 } });
      const stored = await storedSequences(directory);
      expect([...stored]).toEqual(Array.from({ length: 25 }, (_, index) => [index + 1, 1]));
      expect((await job.manager.streams.info(job.deadLetters.stream)).state.messages).toBe(0);
      cli.kill("SIGTERM");
      const { exitCode, stdout, stderr } = await cli.ended;
      expect(exitCode, stderr).toBe(0);
      expect(JSON.parse(stdout)).toMatchObject({ received: 25, stored: 25, dead_lettered: 0, retried: 0, held: 0 });
      // What an attempt without space began is cleared away.
      const left = await readdir(directory, { recursive: true });
      expect(left.filter((file) => file.endsWith(".tmp"))).toEqual([]);
    });
  }
});
