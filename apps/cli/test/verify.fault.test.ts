import { setTimeout as wait } from "node:timers/promises";
import { type NatsServer, startNats } from "@sinks/testing/services";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type PipelineCase, pipelineCase } from "./support/pipeline-case.js";

let nats: NatsServer;
beforeAll(async () => {
  nats = await startNats();
});
afterAll(() => nats[Symbol.asyncDispose]());

const most = 1500;

/** Publishes now and then until it is told to stop, or there are many; every seventh message is no JSON. */
function traffic(job: PipelineCase) {
  const stopped = new AbortController();
  const done = (async () => {
    for (let count = 0; count < most && !stopped.signal.aborted; count += 20) {
      await job.publish(
        Array.from({ length: 20 }, (_, index) => ({
          subject: `${job.prefix}.${index % 5}`,
          body: (count + index) % 7 === 0 ? "poison" : '{"a":1}',
        })),
      );
      await wait(60);
    }
  })();
  return {
    async stop() {
      stopped.abort();
      await done;
    },
  };
}

const modes = ["one_file_per_message", "segments"] as const;
const retentions = ["limits", "workqueue"] as const;
const cases = modes.flatMap((mode) => retentions.map((retention) => [mode, retention] as const));

describe("sinks verify beside a running pipeline", () => {
  test.each(cases)(
    "FW-CLI-07 %s, %s: under load, with dead letters, through SIGKILLs, it never calls a message missing",
    async (mode, retention) => {
      await using job = await pipelineCase(nats);
      await job.remakeStream({ retention });
      const config = await job.configure({
        sink: { type: "file", directory: "out", mode, payload_mode: "json_only", segment_max_bytes: 20_000 },
        dead_letter: { enabled: true, subject: job.deadLetters.subject },
        consumer_management: { ack_wait_seconds: 1 },
        delivery: { batch_size: 20, max_messages_in_flight: 200 },
      });
      let stored = 0;
      for (let round = 1; round <= 3; round += 1) {
        const load = traffic(job);
        try {
          await using cli = job.start("run", config);
          await job.untilStored(stored + 20);
          for (const moment of ["running", "running, again", "killed"]) {
            if (moment === "killed") cli.kill("SIGKILL");
            const { exitCode, stdout, stderr } = await job.run("verify", config, "--format", "json");
            expect(exitCode, `round ${round}, ${moment}: ${stdout}${stderr}`).toBe(0);
            stored = JSON.parse(stdout).stored;
          }
        } finally {
          await load.stop();
        }
      }
      const end = await job.run("run", config, "--once");
      expect(end.exitCode, end.stderr).toBe(0);
      const { exitCode, stdout } = await job.run("verify", config, "--format", "json");
      const result = JSON.parse(stdout);
      const { state } = await job.manager.streams.info(job.stream);
      expect([exitCode, result.expected, result.pending, result.missing]).toEqual([0, state.last_seq, 0, []]);
      expect(result.dead_lettered + result.stored).toBe(state.last_seq);
      expect(result.dead_lettered).toBeGreaterThan(state.last_seq / 8);
    },
  );

  test("FW-CLI-07 a stream that is made again under way is no proof: exit 1 or 2, never a wrong figure", async () => {
    await using job = await pipelineCase(nats);
    const config = await job.configure();
    await job.publish(Array.from({ length: 3000 }, () => ({ subject: `${job.prefix}.a` })));
    expect((await job.run("run", config, "--once")).exitCode).toBe(0);
    for (let turn = 0; turn < 3; turn += 1) {
      await using verify = job.start("verify", config, "--format", "json");
      await job.remakeStream({});
      const { exitCode, stdout } = await verify.ended;
      expect([1, 2]).toContain(exitCode);
      expect(stdout).toBe("");
    }
  });

  test("FW-CLI-02 a server that goes away under way is exit 1", async () => {
    await using own = await startNats({ ownServer: true });
    await using job = await pipelineCase(own);
    const config = await job.configure({ nats: { url: own.url, allow_reconnect: false } });
    await job.publish(Array.from({ length: 500 }, () => ({ subject: `${job.prefix}.a` })));
    expect((await job.run("run", config, "--once")).exitCode).toBe(0);
    await own.kill();
    const { exitCode, stdout } = await job.run("verify", config, "--format", "json");
    expect([exitCode, stdout]).toEqual([1, ""]);
  });
});
