import { mkdir, readdir, writeFile } from "node:fs/promises";
import { type AddressInfo, createServer } from "node:net";
import path from "node:path";
import { type NatsServer, startNats } from "@sinks/testing/services";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type PipelineCase, pipelineCase } from "./support/pipeline-case.js";

let nats: NatsServer;
beforeAll(async () => {
  nats = await startNats();
});
afterAll(() => nats[Symbol.asyncDispose]());

interface CheckLine {
  readonly id: string;
  readonly status: string;
  readonly message: string;
  readonly remedy: string | null;
}

async function examined(job: PipelineCase, config: string, ...flags: string[]) {
  const { exitCode, stdout, stderr } = await job.run("doctor", config, "--format", "json", ...flags);
  expect(stdout, stderr).not.toBe("");
  const { checks } = JSON.parse(stdout) as { checks: CheckLine[] };
  const of = (id: string) => checks.find((check) => check.id === id);
  return { exitCode, checks, of, bad: checks.filter(({ status }) => status === "fail").map(({ id }) => id) };
}

function withDeadLetters(job: PipelineCase, more: object = {}) {
  return { dead_letter: { enabled: true, subject: job.deadLetters.subject, ...more } };
}

describe("sinks doctor", () => {
  test("FW-CLI-06, FW-CLI-10 a sound pipeline: every check passes or does not apply, exit 0, and nothing is changed", async () => {
    await using job = await pipelineCase(nats);
    const config = await job.configure(withDeadLetters(job));
    await job.publish(Array.from({ length: 5 }, () => ({ subject: `${job.prefix}.a` })));
    const before = await examined(job, config);
    expect([before.exitCode, before.bad]).toEqual([0, []]);
    expect(before.of("consumer")).toMatchObject({ status: "pass", message: /made at start/ });
    expect(await readdir(job.project.folder)).not.toContain("out");
    await expect(job.manager.consumers.info(job.stream, "sink")).rejects.toThrow();

    expect((await job.run("run", config, "--once")).exitCode).toBe(0);
    await job.publish(Array.from({ length: 3 }, () => ({ subject: `${job.prefix}.a` })));
    const info = await job.manager.consumers.info(job.stream, "sink");
    const after = await examined(job, config);
    expect(after.checks.filter(({ status }) => status !== "pass" && status !== "skipped")).toEqual([]);
    expect(Object.keys(after.checks[0] ?? {})).toEqual(["id", "status", "message", "remedy"]);
    const later = await job.manager.consumers.info(job.stream, "sink");
    expect([later.delivered, later.ack_floor, later.num_pending]).toEqual([info.delivered, info.ack_floor, 3]);
    expect((await job.manager.streams.info(job.deadLetters.stream)).state.messages).toBe(0);
    const ids = after.checks.map(({ id }) => id);
    for (const id of ["stream", "stream.subject", "consumer", "consumer.drift", "consumer.deadline", "consumer.max_ack_pending"])
      expect(ids).toContain(id);
    for (const id of ["dead_letter.stream", "dead_letter.filter", "dead_letter.size", "permission.publish", "permission.ack"])
      expect(ids).toContain(id);
    for (const id of ["permission.info", "permission.advisory", "sink.directory", "sink.room", "sink.locks"]) expect(ids).toContain(id);
  });

  test("FW-CLI-06 each fault is a check that fails and says what to do", async () => {
    await using job = await pipelineCase(nats);
    const faults: readonly (readonly [string, string])[] = [
      ["stream", "nats.stream=ABSENT"],
      ["stream.subject", "nats.subject=nobody.publishes.this"],
      ["consumer", "consumer_management.mode=bind_only"],
      ["dead_letter.stream", "dead_letter.subject=nobody.takes.this"],
      ["nats.connection", "nats.url=nats://127.0.0.1:1"],
    ];
    const config = await job.configure(withDeadLetters(job));
    for (const [id, change] of faults) {
      const { exitCode, bad, of } = await examined(job, config, "--set", change);
      expect([exitCode, bad.includes(id), of(id)?.remedy === null], change).toEqual([3, true, false]);
    }
    const text = await job.run("doctor", config, "--set", "nats.stream=ABSENT");
    expect(text.stdout).toMatch(/^fail +stream +there is no stream "ABSENT"\n +fix: create it/m);
  });

  test("FW-CLI-06 drift, a short deadline and a narrow window of a consumer that is there", async () => {
    await using job = await pipelineCase(nats);
    const consumer = {
      durable_name: "sink",
      ack_policy: "explicit",
      filter_subject: `${job.prefix}.>`,
      deliver_policy: "all",
      replay_policy: "instant",
    };
    await job.manager.consumers.add(job.stream, { ...consumer, ack_wait: 500_000_000, max_ack_pending: 10, max_deliver: 5 } as never);
    const config = await job.configure({ consumer_management: { max_deliver: 7 } });
    const found = await examined(job, config);
    expect([found.exitCode, found.bad]).toEqual([3, ["consumer.drift"]]);
    expect(found.of("consumer.drift")).toMatchObject({ message: /max_deliver expected 7, found 5/, remedy: /reconcile/ });
    expect(found.of("consumer.deadline")).toMatchObject({ status: "warn", message: /500 ms/ });
    expect(found.of("consumer.max_ack_pending")).toMatchObject({ status: "warn", message: /10/ });
    expect(found.of("advisory.stream")).toMatchObject({ status: "warn", remedy: /MAX_DELIVERIES/ });
    const silent = await examined(job, config, "--set", "delivery.in_progress.enabled=false");
    expect(silent.bad).toContain("consumer.deadline");
    const reconciling = await examined(job, config, "--set", "consumer_management.mode=reconcile");
    expect([reconciling.bad, reconciling.of("consumer.drift")?.status]).toEqual([[], "warn"]);
  });

  test("FW-CLI-06, FW-RUN-12 a pin that reconcile will add to the consumer is told", async () => {
    await using job = await pipelineCase(nats);
    const plain = await job.configure();
    expect((await job.run("run", plain, "--once")).exitCode).toBe(0);
    const ordered = await job.configure({ delivery: { ordering: "strict" } });
    expect((await examined(job, ordered)).of("consumer.drift")?.status).toBe("pass");
    const reconciling = await examined(job, ordered, "--set", "consumer_management.mode=reconcile");
    expect(reconciling.of("consumer.drift")).toMatchObject({ status: "warn", message: /will change the consumer: priority_groups/ });
  });

  test("FW-CLI-06 in a domain the rights to grant are those of its API", async () => {
    const denied = ["$JS.API.CONSUMER.MSG.NEXT.>", "$JS.API.STREAM.MSG.GET.>"];
    await using own = await startNats({
      config: `jetstream { domain: hub }\nno_auth_user: admin\nauthorization { users = [
        { user: admin, password: admin },
        { user: poor, password: poor, permissions: { publish: { deny: ${JSON.stringify(denied)} } } }
      ] }`,
    });
    await using job = await pipelineCase(own);
    const nats = { url: own.url, domain: "hub" };
    expect((await job.run("run", await job.configure({ nats }), "--once")).exitCode).toBe(0);
    const config = await job.configure({ nats: { ...nats, user: "poor", password: "poor" } });
    const poor = await examined(job, config);
    const [info, pull] = [`STREAM.MSG.GET.${job.stream}`, `CONSUMER.MSG.NEXT.${job.stream}.sink`];
    const allowed = (request: string) => `$JS.hub.API.${request} (on servers of that domain: $JS.API.${request})`;
    expect([poor.of("permission.info")?.status, poor.bad]).toEqual(["warn", ["permission.pull"]]);
    expect(poor.of("permission.info")?.remedy).toBe(`allow publishing to ${allowed(info)}`);
    expect(poor.of("permission.pull")?.remedy).toBe(`allow publishing to ${allowed(pull)}`);
    const refused = await job.run("run", config, "--once");
    expect([refused.exitCode, refused.stderr.includes(allowed(pull))], refused.stderr).toEqual([2, true]);
  });

  test("FW-CLI-06 a dead-letter stream that is too small for the messages is a warning", async () => {
    await using job = await pipelineCase(nats);
    const { config: made } = await job.manager.streams.info(job.deadLetters.stream);
    await job.manager.streams.update(job.deadLetters.stream, { ...made, max_msg_size: 1000 });
    const found = await examined(job, await job.configure(withDeadLetters(job)));
    expect([found.exitCode, found.of("dead_letter.size")?.status]).toEqual([0, "warn"]);
  });

  test("FW-CLI-06 the destination: a directory that cannot be used fails", async () => {
    await using job = await pipelineCase(nats);
    await writeFile(path.join(job.project.folder, "taken"), "");
    const found = await examined(job, await job.configure({ sink: { type: "file", directory: "taken" } }));
    expect([found.exitCode, found.bad]).toEqual([3, ["sink.directory"]]);
    await mkdir(path.join(job.project.folder, "there"));
    const absent = await examined(job, await job.configure({ sink: { type: "file", directory: "there/not", create_directory: false } }));
    expect(absent.bad).toEqual(["sink.directory"]);
  });

  test("FW-CLI-06 FW-CLI-04 a server whose version is none is named, and nothing but the document is printed", async () => {
    await using job = await pipelineCase(nats);
    const server = createServer((socket) => {
      socket.on("error", () => undefined);
      socket.write('INFO {"server_id":"x","version":"nightly","max_payload":1048576}\r\n');
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    const config = await job.configure({ nats: { url: `nats://127.0.0.1:${port}`, connect_timeout_seconds: 1 } });
    const { exitCode, stdout, stderr } = await job.run("doctor", config, "--format", "json");
    expect([exitCode, stderr]).toEqual([3, ""]);
    const [check] = (JSON.parse(stdout) as { checks: { id: string; status: string; message: string }[] }).checks;
    expect(check).toMatchObject({ id: "nats.connection", status: "fail", message: expect.stringContaining('calls its version "nightly"') });
    expect((await job.run("run", config)).exitCode).toBe(2);
    server.close();
  });

  test("FW-CLI-06 rights: what the login may not do fails, with the subject to allow", async () => {
    const denied = ["$JS.ACK.>", "*.sink", "$JS.API.CONSUMER.MSG.NEXT.>", "$JS.API.CONSUMER.CREATE.>"];
    await using own = await startNats({
      config: `authorization { users = [
        { user: admin, password: admin },
        { user: poor, password: poor, permissions: { publish: { deny: ${JSON.stringify(denied)} }, subscribe: { deny: ["$JS.EVENT.>"] } } }
      ] }`,
    });
    await using job = await pipelineCase(own, { user: "admin", pass: "admin" });
    const login = (user: string) => ({ nats: { url: own.url, user, password: user }, consumer_management: { max_deliver: 9 } });
    const rich = await job.configure({ ...withDeadLetters(job), ...login("admin") });
    expect((await job.run("run", rich, "--once")).exitCode).toBe(0);
    const good = await examined(job, rich);
    expect([good.bad, good.of("permission.mark")?.status]).toEqual([[], "pass"]);
    const poor = await examined(job, await job.configure({ ...withDeadLetters(job), ...login("poor") }));
    expect([poor.exitCode, poor.bad]).toEqual([3, ["permission.pull", "permission.ack", "permission.publish"]]);
    expect(poor.of("permission.ack")?.remedy).toContain(`$JS.ACK.${job.stream}.sink.>`);
    expect(poor.of("permission.advisory")?.status).toBe("warn");
    const create = `$JS.API.CONSUMER.CREATE.${job.stream}.sink.${job.prefix}.>`;
    expect(poor.of("permission.mark")).toMatchObject({ status: "warn", remedy: `allow publishing to ${create}` });
  });
});
