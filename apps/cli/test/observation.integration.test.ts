import { readFile } from "node:fs/promises";
import { createServer } from "node:net";
import path from "node:path";
import { eventually, freePort, type NatsServer, startNats } from "@sinks/testing/services";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { logged, type PipelineCase, pipelineCase } from "./support/pipeline-case.js";
import { probeSettings } from "./support/settings.js";

let nats: NatsServer;
beforeAll(async () => {
  nats = await startNats();
});
afterAll(() => nats[Symbol.asyncDispose]());

const { plugins } = probeSettings() as { plugins: object };
const many = (job: PipelineCase, count: number) =>
  job.publish(Array.from({ length: count }, (_, index) => ({ subject: `${job.prefix}.a`, body: `{"n":${index}}` })));

interface Answer {
  readonly code: number;
  readonly body: string;
}

async function ask(port: number, page: string): Promise<Answer> {
  try {
    const answer = await fetch(`http://127.0.0.1:${port}${page}`);
    return { code: answer.status, body: await answer.text() };
  } catch {
    return { code: 0, body: "" };
  }
}

function answers(port: number, page: string, code: number): Promise<Answer> {
  return eventually(
    async () => {
      const answer = await ask(port, page);
      return answer.code === code ? answer : null;
    },
    { deadlineMs: 20_000, what: `${page} to answer ${code}` },
  );
}

describe("metrics.listen", () => {
  test("FW-OBS-03 says alive before the pipeline is ready, ready once it pulls, and what was moved", async () => {
    await using job = await pipelineCase(nats);
    const port = await freePort();
    await many(job, 12);
    await using cli = job.start("run", await job.configure({ metrics: { enabled: true, listen: `127.0.0.1:${port}` } }));
    await answers(port, "/livez", 200);
    expect(JSON.parse((await answers(port, "/readyz", 200)).body)).toEqual({ ready: true, state: "running", reasons: [] });
    await eventually(async () => (await ask(port, "/metrics")).body.includes("\nnats_sinks_messages_acked_total 12\n"), {
      deadlineMs: 20_000,
      what: "12 acknowledgements to be counted",
    });
    const { body } = await ask(port, "/metrics");
    for (const line of [
      "messages_fetched_total 12",
      "messages_written_total 12",
      "messages_in_flight 0",
      "bytes_in_flight 0",
      "ready 1",
      "event_age_at_receive_seconds_count 12",
    ])
      expect(body).toContain(`\nnats_sinks_${line}\n`);
    expect(body).toMatch(/\nnats_sinks_sink_batch_write_seconds_count [1-9]/);
    expect(body).toMatch(/\nnats_sinks_last_sink_success_epoch_seconds 1[0-9]{9}/);
    cli.kill("SIGTERM");
    expect((await cli.ended).exitCode).toBe(0);
    expect((await ask(port, "/livez")).code).toBe(0);
  });

  test("FW-RUN-38 while a start waits for its server it is alive and not ready; a red pipeline says why", async () => {
    await using job = await pipelineCase(nats);
    const port = await freePort();
    const behaviour = await job.project.file("behaviour", "contract");
    const sections = { metrics: { listen: `127.0.0.1:${port}` }, sink: { type: "probe", behaviour }, plugins };
    const away = await job.configure({ ...sections, nats: { url: `nats://127.0.0.1:${await freePort()}` } });
    {
      await using cli = job.start("run", away);
      expect(JSON.parse((await answers(port, "/readyz", 503)).body)).toMatchObject({ ready: false, state: "starting" });
      expect((await ask(port, "/livez")).code).toBe(200);
      expect((await ask(port, "/metrics")).code).toBe(404);
      cli.kill("SIGKILL");
    }
    await using cli = job.start("run", await job.configure(sections));
    await answers(port, "/readyz", 200);
    await many(job, 1);
    expect(JSON.parse((await answers(port, "/readyz", 503)).body)).toMatchObject({
      ready: false,
      reasons: [expect.stringMatching(/^paused: sink_contract/)],
    });
    expect((await ask(port, "/livez")).code).toBe(200);
    cli.kill("SIGTERM");
    await cli.ended;
  });

  test("FW-OBS-06 an address and a file that cannot be had cost no message", async () => {
    await using job = await pipelineCase(nats);
    const taken = createServer();
    const port = await freePort();
    await new Promise<void>((resolve) => taken.listen(port, "127.0.0.1", resolve));
    const file = await job.project.file("blocker", "");
    await many(job, 20);
    const metrics = { enabled: true, listen: `127.0.0.1:${port}`, snapshot_file: path.join(file, "status.json") };
    const { exitCode, stdout, stderr } = await job.run("run", await job.configure({ metrics }), "--once", "--format", "json");
    taken.close();
    expect([exitCode, JSON.parse(stdout)]).toEqual([0, expect.objectContaining({ stored: 20 })]);
    expect(stderr).toContain("health cannot be served; tried again");
    expect(stderr).toContain("the status file cannot be written; tried again");
  });
});

describe("metrics.snapshot_file", () => {
  test("FW-OBS-01 is kept up to date while the pipeline runs, and its last word is that it stopped", async () => {
    await using job = await pipelineCase(nats);
    const file = path.join(job.project.folder, "state", "status.json");
    const read = async () => JSON.parse(await readFile(file, "utf8"));
    await using cli = job.start("run", await job.configure({ metrics: { enabled: true, snapshot_file: "state/status.json" } }));
    await logged(cli, "ready");
    await many(job, 5);
    await eventually(
      async () => {
        const { health, counters } = await read();
        return health.ready === true && counters.messages_written_total === 5;
      },
      { deadlineMs: 20_000, what: "the status file to tell of five messages" },
    );
    cli.kill("SIGTERM");
    await cli.ended;
    expect(await read()).toMatchObject({ health: { state: "stopped", ready: false }, gauges: { messages_in_flight: 0 } });
  });
});
