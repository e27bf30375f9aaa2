import { readdir } from "node:fs/promises";
import path from "node:path";
import { eventually, freePort, type NatsServer, startNats } from "@sinks/testing/services";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { logged, pipelineCase } from "./support/pipeline-case.js";
import { probeSettings } from "./support/settings.js";

let nats: NatsServer;
beforeAll(async () => {
  nats = await startNats();
});
afterAll(() => nats[Symbol.asyncDispose]());

const summaryKeys = ["received", "stored", "dead_lettered", "retried", "held", "seconds"];
const many = (prefix: string, count: number) =>
  Array.from({ length: count }, (_, index) => ({ subject: `${prefix}.a`, body: `{"n":${index}}` }));
const { plugins } = probeSettings() as { plugins: object };

describe("sinks run --once", () => {
  test("FW-CLI-08 ends with 0 when everything up to the last sequence is settled, and prints the summary as one document", async () => {
    await using job = await pipelineCase(nats);
    await job.publish(many(job.prefix, 50));
    const config = await job.configure();
    const { exitCode, stdout, stderr } = await job.run("run", "-c", config, "--once", "--format", "json");
    expect([exitCode, stderr.includes("sinks:")]).toEqual([0, false]);
    const summary = JSON.parse(stdout);
    expect(Object.keys(summary)).toEqual(summaryKeys);
    expect(summary).toMatchObject({ received: 50, stored: 50, dead_lettered: 0, retried: 0, held: 0 });
    expect(await readdir(path.join(job.project.folder, "out", `${job.prefix}.a`))).toHaveLength(50);
    const { num_pending, num_ack_pending } = await job.manager.consumers.info(job.stream, "sink");
    expect([num_pending, num_ack_pending]).toEqual([0, 0]);
  });

  test("FW-CLI-08 an empty stream is done at once", async () => {
    await using job = await pipelineCase(nats);
    const { exitCode, stdout } = await job.run("run", await job.configure(), "--once", "--format", "json");
    expect([exitCode, JSON.parse(stdout).received]).toEqual([0, 0]);
  });

  test("FW-CLI-04 the text summary is for people", async () => {
    await using job = await pipelineCase(nats);
    await job.publish(many(job.prefix, 3));
    const { exitCode, stdout } = await job.run("run", await job.configure(), "--once");
    expect(exitCode).toBe(0);
    expect(stdout).toMatch(/^received +3\nstored +3\ndead-lettered +0\nretried +0\nheld +0\ntime +\d/);
  });

  test("FW-CLI-08 a held message ends it with 1 and is named", async () => {
    await using job = await pipelineCase(nats);
    await job.publish(many(job.prefix, 1));
    const behaviour = await job.project.file("behaviour", "permanent");
    const config = await job.configure({ sink: { type: "probe", behaviour }, plugins, dead_letter: { when_disabled: "hold" } });
    const { exitCode, stdout, stderr } = await job.run("run", config, "--once", "--format", "json");
    expect(exitCode).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({ received: 1, stored: 0, held: 1 });
    const failure = JSON.parse(stderr.trimEnd().split("\n").at(-1) ?? "");
    expect(failure).toMatchObject({
      error: { code: "run_incomplete", exit_code: 1, problems: [{ message: expect.stringMatching(/held.*sequence 1/) }] },
    });
  });

  test("FW-CLI-08 --timeout ends it with 1 and is named", async () => {
    await using job = await pipelineCase(nats);
    await job.publish(many(job.prefix, 1));
    const behaviour = await job.project.file("behaviour", "stuck");
    const config = await job.configure({
      sink: { type: "probe", behaviour },
      plugins,
      delivery: { shutdown_timeout_ms: 100, abort_grace_ms: 100 },
    });
    const { exitCode, stderr } = await job.run("run", config, "--once", "--timeout", "0.5");
    expect(exitCode).toBe(1);
    expect(stderr).toMatch(/^sinks: the run is not complete: timed out/m);
  });

  test("FW-CLI-08 a signal before the goal ends it with 1", async () => {
    await using job = await pipelineCase(nats);
    await job.publish(many(job.prefix, 1));
    const behaviour = await job.project.file("behaviour", "slow");
    const config = await job.configure({
      sink: { type: "probe", behaviour },
      plugins,
    });
    await using cli = job.start("run", config, "--once");
    await logged(cli, "ready");
    cli.kill("SIGTERM");
    const { exitCode, stderr } = await cli.ended;
    expect(exitCode).toBe(1);
    expect(stderr).toMatch(/^sinks: the run is not complete: stopped by SIGTERM/m);
  });
});

describe("sinks run", () => {
  test.each(["SIGTERM", "SIGINT"] as const)("FW-RUN-28, FW-CLI-02 %s drains and ends with 0", async (signal) => {
    await using job = await pipelineCase(nats);
    await using cli = job.start("run", await job.configure());
    await logged(cli, "ready");
    await job.publish(many(job.prefix, 20));
    await eventually(async () => (await job.manager.consumers.info(job.stream, "sink")).delivered.stream_seq >= 20, {
      deadlineMs: 10_000,
      what: "20 deliveries",
    });
    cli.kill(signal);
    const { exitCode, stdout } = await cli.ended;
    expect(exitCode).toBe(0);
    expect(stdout).toMatch(/^stored +20$/m);
    expect((await job.manager.consumers.info(job.stream, "sink")).num_ack_pending).toBe(0);
  });

  test("FW-RUN-38 SIGHUP ends a pause that waits for an operator", async () => {
    await using job = await pipelineCase(nats);
    const behaviour = await job.project.file("behaviour", "contract");
    const config = await job.configure({ sink: { type: "probe", behaviour }, plugins, consumer_management: { ack_wait_seconds: 2 } });
    await using cli = job.start("run", config);
    await logged(cli, "ready");
    await job.publish(many(job.prefix, 1));
    await logged(cli, "sink_contract");
    await job.project.file("behaviour", "store");
    cli.kill("SIGHUP");
    await eventually(async () => (await job.manager.consumers.info(job.stream, "sink")).ack_floor.stream_seq === 1, {
      deadlineMs: 20_000,
      what: "the message to be settled",
    });
    cli.kill("SIGTERM");
    expect((await cli.ended).exitCode).toBe(0);
  });

  test("FW-CLI-09, FW-OBS-04 without a terminal, progress is a log line at the interval, as JSON when asked", async () => {
    await using job = await pipelineCase(nats);
    await job.publish(many(job.prefix, 5));
    const sections = { logging: { format: "json", progress_interval_seconds: 1 }, delivery: { prefer_safe_duplication: true } };
    await using cli = job.start("run", await job.configure(sections));
    await logged(cli, '"event":"progress"');
    cli.kill("SIGTERM");
    const { stderr } = await cli.ended;
    const lines = stderr
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(lines.find((line) => line.event.includes("prefer_safe_duplication"))).toMatchObject({ level: "warn" });
    expect(lines.find((line) => line.event === "progress")).toMatchObject({
      level: "info",
      stored: 5,
      dead_lettered: 0,
      in_flight: 0,
      healthy: true,
    });
  });
});

describe("what stops a start", () => {
  test("FW-RUN-32, FW-CLI-02 a stream that does not exist is exit 2", async () => {
    await using job = await pipelineCase(nats);
    const { exitCode, stdout, stderr } = await job.run("run", await job.configure({ nats: { stream: "ABSENT" } }), "--once");
    expect([exitCode, stdout]).toEqual([2, ""]);
    expect(stderr).toMatch(/^sinks: .*ABSENT/m);
    expect(stderr).not.toMatch(/^\s+at /m);
  });

  test("FW-OBS-04 with JSON logs the failure is JSON too", async () => {
    await using job = await pipelineCase(nats);
    const { exitCode, stderr } = await job.run("run", await job.configure({ nats: { stream: "ABSENT" }, logging: { format: "json" } }));
    expect(exitCode).toBe(2);
    expect(JSON.parse(stderr.trimEnd().split("\n").at(-1) ?? "")).toMatchObject({ error: { exit_code: 2 } });
  });

  test("FW-RUN-32 a consumer that does not exist is exit 2 under bind_only", async () => {
    await using job = await pipelineCase(nats);
    const { exitCode, stderr } = await job.run("run", await job.configure({ consumer_management: { mode: "bind_only" } }));
    expect(exitCode).toBe(2);
    expect(stderr).toMatch(/^sinks: nats\.consumer: /m);
  });

  test("FW-RUN-32, FW-CLI-02 a destination that refuses the login is exit 2", async () => {
    await using job = await pipelineCase(nats);
    const { exitCode, stderr } = await job.run("run", await job.configure({ sink: { type: "probe", start: "credentials" }, plugins }));
    expect(exitCode).toBe(2);
    expect(stderr).toMatch(/^sinks: sink probe: /m);
    expect(stderr).not.toContain("hunter2");
  });

  test("FW-RUN-32, FW-CLI-02 a server that stays unreachable is exit 1 after start_timeout_ms", async () => {
    await using job = await pipelineCase(nats);
    const config = await job.configure({ nats: { url: `nats://127.0.0.1:${await freePort()}` }, delivery: { start_timeout_ms: 300 } });
    const { exitCode, stderr } = await job.run("run", config);
    expect(exitCode).toBe(1);
    expect(stderr).toMatch(/^sinks: .*127\.0\.0\.1/m);
  });

  test("FW-RUN-28 SIGTERM before the pipeline is ready ends with 0", async () => {
    await using job = await pipelineCase(nats);
    const config = await job.configure({
      nats: { url: `nats://127.0.0.1:${await freePort()}` },
      delivery: { start_timeout_ms: 600_000 },
      logging: { level: "DEBUG" },
    });
    await using cli = job.start("run", config);
    await eventually(() => cli.stderr() !== "", { deadlineMs: 20_000, what: "the first log line" });
    cli.kill("SIGTERM");
    expect((await cli.ended).exitCode).toBe(0);
  });
});
