import { pathToFileURL } from "node:url";
import { eventually, type NatsServer, startNats } from "@sinks/testing/services";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startCli } from "./support/cli-process.js";
import { logged, pipelineCase } from "./support/pipeline-case.js";

let nats: NatsServer;
beforeAll(async () => {
  nats = await startNats();
});
afterAll(() => nats[Symbol.asyncDispose]());

/** Sets the clock of the process an hour back and an hour forth, five times a second, and says so once. */
const jumpingClock = `
const real = Date.now.bind(Date);
const offset = () => (Math.floor(performance.now() / 200) % 2 === 0 ? -3_600_000 : 3_600_000);
globalThis.Date = class extends Date {
  constructor(...parts) {
    if (parts.length === 0) super(real() + offset());
    else super(...parts);
  }
  static now() {
    return real() + offset();
  }
};
process.stderr.write("the clock jumps\\n");
`;

test("FW-RUN-30 a clock that jumps costs a running process no lease, no retry and no message", async () => {
  await using job = await pipelineCase(nats);
  // A dead letter that cannot be published keeps its message leased, and is tried again and again.
  await job.manager.streams.update(job.deadLetters.stream, { max_msgs: 1, discard: "new" });
  await job.publish([{ subject: job.deadLetters.subject }]);
  const config = await job.configure({
    sink: { type: "file", directory: "out", payload_mode: "json_only" },
    dead_letter: { enabled: true, subject: job.deadLetters.subject },
    consumer_management: { ack_wait_seconds: 1 },
  });
  const preload = pathToFileURL(await job.project.file("clock.mjs", jumpingClock)).href;
  await using cli = startCli(["run", config], {
    workingDirectory: job.project.folder,
    environment: { NODE_OPTIONS: `--import=${preload}` },
  });
  await logged(cli, "the clock jumps");
  await job.publish([{ subject: `${job.prefix}.bad`, body: "not JSON" }]);
  const began = performance.now();
  for (let second = 0; second < 4; second += 1) {
    await job.publish(Array.from({ length: 10 }, () => ({ subject: `${job.prefix}.a` })));
    await job.untilStored(10 * (second + 1));
    await eventually(() => performance.now() >= began + 1000 * (second + 1), { deadlineMs: 5000, what: "a second to pass" });
  }
  await job.untilStored(40);
  await job.manager.streams.update(job.deadLetters.stream, { max_msgs: -1 });
  const consumer = () => job.manager.consumers.info(job.stream, "sink");
  await eventually(async () => (await consumer()).num_ack_pending === 0, { deadlineMs: 10_000, what: "the dead letter" });
  // Nothing was delivered twice: the lease of four seconds was kept by beats of a third of one.
  expect((await consumer()).delivered.consumer_seq).toBe(41);
  cli.kill("SIGTERM");
  expect((await cli.ended).exitCode).toBe(0);
  expect((await job.run("verify", config)).exitCode).toBe(0);
});
