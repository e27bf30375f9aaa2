import { natsFilter, startProxy } from "@sinks/testing/faults";
import { eventually, type NatsServer, startNats } from "@sinks/testing/services";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { logged, type PipelineCase, pipelineCase } from "./support/pipeline-case.js";

let nats: NatsServer;
beforeAll(async () => {
  nats = await startNats();
});
afterAll(() => nats[Symbol.asyncDispose]());

const perishable = { consumer_management: { ack_wait_seconds: 1, max_deliver: 2 }, sink: { type: "file", directory: "out" } };
const deadLetter = (job: PipelineCase) => ({ dead_letter: { enabled: true, subject: job.deadLetters.subject } });
const publishTo = (job: PipelineCase, count: number) =>
  job.publish(Array.from({ length: count }, (_, index) => ({ subject: `${job.prefix}.a`, body: `{"n":${index}}` })));

/** Has the first `count` messages delivered to a client that never answers, until the server gives them up or is about to. */
async function deliverInVain(job: PipelineCase, count: number): Promise<void> {
  await job.manager.consumers.add(job.stream, {
    durable_name: "sink",
    ack_policy: "explicit",
    filter_subject: `${job.prefix}.>`,
    ack_wait: 1e9,
    max_deliver: 2,
  });
  await publishTo(job, count);
  for (let taken = 0; taken < 2 * count; ) taken += (await job.fetch(2 * count - taken)).length;
}

const consumerOf = (job: PipelineCase) => job.manager.consumers.info(job.stream, "sink");
const markOf = async (job: PipelineCase) => (await consumerOf(job)).config.metadata?.["_sinks.stranded"];

/** Another client asks on until the server has given them all up: it does so only while somebody asks. */
async function giveUp(job: PipelineCase): Promise<void> {
  const asking = job.fetch(1);
  await eventually(async () => (await consumerOf(job)).num_ack_pending === 0, { deadlineMs: 10_000, what: "all to be given up" });
  // What ends the asking stays with a client that is there no more.
  await job.publish([{ subject: `${job.prefix}.a` }]);
  expect(await asking).toHaveLength(1);
}

/** Another client takes and acks one more message: the ack floor goes over everything that was given up. */
async function moveFloor(job: PipelineCase): Promise<void> {
  const [later] = await job.publish([{ subject: `${job.prefix}.later` }]);
  for (const message of await job.fetch(1)) message.ack();
  await eventually(async () => (await consumerOf(job)).ack_floor.stream_seq === later, { deadlineMs: 10_000, what: "the floor to move" });
}

/** Runs until all is settled, and answers which sequences are dead-lettered, and for what. */
async function finish(job: PipelineCase, config: string): Promise<unknown[]> {
  const last = await job.run("run", config, "--once", "--format", "json");
  expect(last.exitCode, last.stderr).toBe(0);
  const listed = JSON.parse((await job.run("dlq", "list", config, "--format", "json")).stdout) as Record<string, unknown>[];
  expect(await markOf(job)).toBeUndefined();
  return listed.map((entry) => [entry["stream_sequence"], entry["error_code"]]).sort();
}

const exceeded = (count: number) => Array.from({ length: count }, (_, index) => [index + 1, "max_deliver_exceeded"]);

describe("FW-RUN-21 messages out of deliveries that a runner found and did not get to dead-letter", () => {
  for (const whose of ["its own", "another"] as const) {
    test(`come back after SIGKILL between finding and dead-lettering, given up in ${whose} client's time`, async () => {
      await using job = await pipelineCase(nats);
      await deliverInVain(job, 3);
      if (whose === "another") await giveUp(job);
      let found = false;
      const toServer = natsFilter(({ subject }) => {
        found ||= subject === job.deadLetters.subject;
        return found;
      });
      await using proxy = await startProxy({ port: nats.port, toServer });
      const through = await job.configure({ ...perishable, ...deadLetter(job), nats: { url: `nats://127.0.0.1:${proxy.port}` } });
      await using cli = job.start("run", through);
      await eventually(() => found || !cli.running(), { deadlineMs: 30_000, what: "the first dead letter" });
      expect(cli.running(), cli.stderr()).toBe(true);
      cli.kill("SIGKILL");
      await cli.ended;
      await moveFloor(job);
      expect(await markOf(job)).toBeDefined();
      const config = await job.configure({ ...perishable, ...deadLetter(job) });
      expect(await finish(job, config)).toEqual(exceeded(3));
    });
  }

  test("come back when dead letters were off and are on at the next start", async () => {
    await using job = await pipelineCase(nats);
    await deliverInVain(job, 3);
    const off = await job.configure(perishable);
    await using cli = job.start("run", off);
    await logged(cli, "message held");
    await job.publish([{ subject: `${job.prefix}.good` }]);
    await eventually(async () => (await consumerOf(job)).ack_floor.stream_seq === 4, { deadlineMs: 20_000, what: "the floor to move" });
    cli.kill("SIGTERM");
    expect((await cli.ended).exitCode).toBe(0);
    expect(await markOf(job)).toBe("1-3");
    const config = await job.configure({ ...perishable, ...deadLetter(job) });
    expect(await finish(job, config)).toEqual(exceeded(3));
  });

  test("FW-RUN-32 come back when the stream of dead letters was full, then gone (exit 2), then there again", async () => {
    await using job = await pipelineCase(nats);
    await deliverInVain(job, 3);
    const { stream, subject } = job.deadLetters;
    await job.manager.streams.update(stream, { max_msgs: 1, discard: "new" });
    await job.publish([{ subject }]);
    const config = await job.configure({ ...perishable, ...deadLetter(job) });
    await using cli = job.start("run", config);
    await logged(cli, "dead letter not published");
    await job.publish([{ subject: `${job.prefix}.good` }]);
    await eventually(async () => (await consumerOf(job)).ack_floor.stream_seq === 4, { deadlineMs: 20_000, what: "the floor to move" });
    cli.kill("SIGKILL");
    await cli.ended;
    await job.manager.streams.delete(stream);
    expect((await job.run("run", config, "--once")).exitCode).toBe(2);
    expect(await markOf(job)).toBe("1-3");
    await job.manager.streams.add({ name: stream, subjects: [subject] });
    expect(await finish(job, config)).toEqual(exceeded(3));
  });
});
