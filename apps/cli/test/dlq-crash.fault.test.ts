import { randomBytes } from "node:crypto";
import { type Proxy as FaultProxy, type NatsFrame, natsFilter, startProxy } from "@sinks/testing/faults";
import { eventually, type NatsServer, startNats } from "@sinks/testing/services";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type PipelineCase, pipelineCase } from "./support/pipeline-case.js";

let nats: NatsServer;
beforeAll(async () => {
  nats = await startNats();
});
afterAll(() => nats[Symbol.asyncDispose]());

const deaths = 3;

/** A proxy that lets nothing through to the server any more once a moment has come; `seen` counts how often it came. */
async function stoppingAt(moment: (frame: NatsFrame) => boolean): Promise<FaultProxy & { readonly seen: () => boolean; reset(): void }> {
  let stopped = false;
  const toServer = natsFilter((frame) => {
    stopped ||= moment(frame);
    return stopped;
  });
  const proxy = await startProxy({ port: nats.port, toServer });
  return Object.assign(proxy, {
    seen: () => stopped,
    reset: () => {
      stopped = false;
    },
  });
}

/** Runs the pipeline into a death at the moment, as often as is asked, and then once without one. */
async function dieAndFinish(job: PipelineCase, sections: Record<string, object>, moment: (frame: NatsFrame) => boolean): Promise<string> {
  await using proxy = await stoppingAt(moment);
  const common = {
    sink: { type: "file", directory: "out", payload_mode: "json_only" },
    consumer_management: { ack_wait_seconds: 1 },
    ...sections,
  };
  const through = await job.configure({ ...common, nats: { url: `nats://127.0.0.1:${proxy.port}` } });
  for (let death = 1; death <= deaths; death += 1) {
    proxy.reset();
    await using cli = job.start("run", through);
    await eventually(() => proxy.seen() || !cli.running(), { deadlineMs: 30_000, what: `the moment of death ${death}` });
    expect(cli.running(), cli.stderr()).toBe(true);
    cli.kill("SIGKILL");
    await cli.ended;
  }
  const config = await job.configure(common);
  const last = await job.run("run", config, "--once", "--format", "json");
  expect(last.exitCode, last.stderr).toBe(0);
  return config;
}

const deadLetter = (job: PipelineCase, more: object = {}) => ({
  dead_letter: { enabled: true, subject: job.deadLetters.subject, ...more },
});
const isAck = ({ subject, payload }: NatsFrame): boolean =>
  subject?.startsWith("$JS.ACK.") === true && payload.toString().startsWith("+ACK");

interface Entry {
  readonly sequence: number;
  readonly stream_sequence: number;
}

async function listed(job: PipelineCase, config: string): Promise<Entry[]> {
  return JSON.parse((await job.run("dlq", "list", config, "--format", "json")).stdout) as Entry[];
}

describe("three deaths between the dead letter and the ack", () => {
  test("FW-DLQ-03 FW-DLQ-01 leave one entry in the stream, and the original settled", async () => {
    await using job = await pipelineCase(nats);
    await job.publish([{ subject: `${job.prefix}.bad`, body: "not JSON" }]);
    const config = await dieAndFinish(job, deadLetter(job), isAck);
    expect((await job.manager.streams.info(job.deadLetters.stream)).state.last_seq).toBe(1);
    expect((await listed(job, config)).map((entry) => entry.stream_sequence)).toEqual([1]);
    expect(await job.manager.consumers.info(job.stream, "sink")).toMatchObject({ num_ack_pending: 0, num_pending: 0 });
  });

  test("FW-DLQ-03 leave one entry for a reader also when the server has forgotten the id each time", async () => {
    await using job = await pipelineCase(nats);
    await job.manager.streams.update(job.deadLetters.stream, { duplicate_window: 100_000_000 });
    await job.publish([{ subject: `${job.prefix}.bad`, body: "not JSON" }]);
    const config = await dieAndFinish(job, deadLetter(job), isAck);
    expect((await job.manager.streams.info(job.deadLetters.stream)).state.messages).toBe(deaths + 1);
    expect(await listed(job, config)).toMatchObject([{ sequence: 1, stream_sequence: 1 }]);
  });

  test("FW-DLQ-05 FW-DLQ-03 between its chunks leave one entry, whole", async () => {
    await using job = await pipelineCase(nats);
    const body = randomBytes(30_000).toString("base64");
    await job.publish([{ subject: `${job.prefix}.bad`, body }]);
    let parts = 0;
    // Each death comes one part later: after the first, the second, the third.
    const moment = ({ subject }: NatsFrame): boolean => {
      if (subject !== job.deadLetters.subject) return false;
      parts += 1;
      return [2, 5, 9].includes(parts);
    };
    const config = await dieAndFinish(job, deadLetter(job, { max_bytes: 10_000 }), moment);
    const [entry, ...more] = await listed(job, config);
    expect([entry?.stream_sequence, more]).toEqual([1, []]);
    const shown = JSON.parse((await job.run("dlq", "show", config, `${entry?.sequence}`, "--format", "json")).stdout);
    expect(shown.payload === body).toBe(true);
    // Every part is there once.
    expect((await job.manager.streams.info(job.deadLetters.stream)).state.last_seq).toBe(await partsOf(job));
  });
});

async function partsOf(job: PipelineCase): Promise<number> {
  const first = await job.manager.streams.getMessage(job.deadLetters.stream, { seq: 1 });
  return Number(first?.header.get("Nats-Sinks-Chunk").split("/")[1]);
}
