import { type NatsServer, startNats } from "@sinks/testing/services";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type PipelineCase, pipelineCase } from "./support/pipeline-case.js";

let nats: NatsServer;
beforeAll(async () => {
  nats = await startNats();
});
afterAll(() => nats[Symbol.asyncDispose]());

/** A configuration under which what is not JSON becomes a dead letter, and the dead letters of these bodies. */
async function withDeadLetters(job: PipelineCase, bodies: readonly (string | Uint8Array)[]): Promise<string> {
  const config = await job.configure({
    sink: { type: "file", directory: "out", payload_mode: "json_only" },
    dead_letter: { enabled: true, subject: job.deadLetters.subject },
  });
  for (const body of bodies) await job.publish([{ subject: `${job.prefix}.bad`, body }]);
  if (bodies.length > 0) expect((await job.run("run", config, "--once")).exitCode).toBe(0);
  return config;
}

/** Publishes on the dead-letter subject as the runner would, under an id. */
async function publishEntry(job: PipelineCase, id: string, streamSequence: number): Promise<void> {
  const record = {
    dlq_version: 1,
    error_code: "permanent",
    sink: "file",
    stream: "EVENTS",
    stream_sequence: streamSequence,
    subject: "events.x",
  };
  await job.publish([{ subject: job.deadLetters.subject, body: JSON.stringify(record), id }]);
}

describe("sinks dlq list", () => {
  test("FW-CLI-11 is a JSON array of the documented shape", async () => {
    await using job = await pipelineCase(nats);
    const config = await withDeadLetters(job, ["{}", "not JSON", new Uint8Array([0xff, 0x00])]);
    const { exitCode, stdout, stderr } = await job.run("dlq", "list", config, "--format", "json");
    expect([exitCode, stderr]).toEqual([0, ""]);
    const list = JSON.parse(stdout);
    expect(Object.keys(list[0])).toEqual([
      "sequence",
      "stream",
      "stream_sequence",
      "subject",
      "error_code",
      "error_type",
      "sink",
      "time",
      "done",
    ]);
    expect(list).toMatchObject([
      {
        sequence: 1,
        stream: job.stream,
        stream_sequence: 2,
        subject: `${job.prefix}.bad`,
        error_type: "SerializationError",
        sink: "file",
        done: false,
      },
      { sequence: 2, stream: job.stream, stream_sequence: 3, done: false },
    ]);
    expect(Number.isNaN(Date.parse(list[0].time))).toBe(false);
  });

  test("FW-CLI-11 pages, and says on stderr where the next page starts", async () => {
    await using job = await pipelineCase(nats);
    const config = await withDeadLetters(job, []);
    for (let sequence = 1; sequence <= 5; sequence += 1) await publishEntry(job, `id-${sequence}`, sequence);
    const first = await job.run("dlq", "list", "-c", config, "--limit", "2");
    expect(first.stdout.trimEnd().split("\n")).toHaveLength(3);
    expect(first.stderr).toBe("sinks: there are more; continue with --from 3\n");
    const rest = await job.run("dlq", "list", "-c", config, "--from", "3", "--limit", "10", "--format", "json");
    expect(JSON.parse(rest.stdout).map((line: { sequence: number }) => line.sequence)).toEqual([3, 4, 5]);
    expect(rest.stderr).toBe("");
  });

  test("FW-DLQ-03 entries of one original and sink are one, whatever the server has forgotten", async () => {
    await using job = await pipelineCase(nats);
    const config = await withDeadLetters(job, []);
    await publishEntry(job, "first", 1);
    await publishEntry(job, "second", 2);
    await publishEntry(job, "first-r1", 1);
    const all = JSON.parse((await job.run("dlq", "list", config, "--format", "json")).stdout);
    expect(all.map((line: { sequence: number }) => line.sequence)).toEqual([1, 2]);
    const later = JSON.parse((await job.run("dlq", "list", config, "--from", "3", "--format", "json")).stdout);
    expect(later).toEqual([]);
  });

  test("FW-DLQ-10 an entry with a marker on the done subject is done", async () => {
    await using job = await pipelineCase(nats);
    const config = await withDeadLetters(job, []);
    await publishEntry(job, "first", 1);
    await publishEntry(job, "second", 2);
    await job.publish([{ subject: `${job.deadLetters.subject}.done`, body: '{"sequence":2}' }]);
    const list = JSON.parse((await job.run("dlq", "list", config, "--format", "json")).stdout);
    expect(list.map((line: { done: boolean }) => line.done)).toEqual([false, true]);
  });

  test("FW-CLI-11 no dead letters is an empty list", async () => {
    await using job = await pipelineCase(nats);
    const config = await withDeadLetters(job, []);
    expect((await job.run("dlq", "list", config, "--format", "json")).stdout).toBe("[]\n");
    expect((await job.run("dlq", "list", config)).stdout).toBe("no dead letters\n");
  });

  test("FW-CLI-02 with dead letters off, or no stream that takes them, it is exit 2", async () => {
    await using job = await pipelineCase(nats);
    const off = await job.run("dlq", "list", await job.configure());
    expect(off).toMatchObject({ exitCode: 2, stdout: "" });
    expect(off.stderr).toMatch(/^sinks: dead_letter\.enabled: /);
    const nowhere = await job.run("dlq", "list", await job.configure({ dead_letter: { enabled: true, subject: "nobody.takes.this" } }));
    expect(nowhere).toMatchObject({ exitCode: 2, stdout: "" });
    expect(nowhere.stderr).toMatch(/^sinks: dead_letter\.subject: .*nobody\.takes\.this/);
    const absent = await job.run(
      "dlq",
      "list",
      await job.configure({ dead_letter: { enabled: true, subject: "nobody.takes.this", stream: "ABSENT" } }),
    );
    expect(absent).toMatchObject({ exitCode: 2, stdout: "" });
    expect(absent.stderr).toMatch(/^sinks: dead_letter\.stream: /);
  });
});

describe("sinks dlq show", () => {
  test("FW-CLI-11 prints one entry with its payload as text", async () => {
    await using job = await pipelineCase(nats);
    const config = await withDeadLetters(job, ["não é JSON\u001b[31m"]);
    const { exitCode, stdout } = await job.run("dlq", "show", config, "1", "--format", "json");
    expect(exitCode).toBe(0);
    const shown = JSON.parse(stdout);
    expect(shown).toMatchObject({
      sequence: 1,
      stream_sequence: 1,
      payload: "não é JSON\u001b[31m",
      payload_encoding: "utf-8",
      payload_unavailable_reason: null,
    });
    expect(shown.record).toMatchObject({ dlq_version: 1, consumer: "sink" });
    const text = await job.run("dlq", "show", "-c", config, "1");
    expect(text.stdout).toContain("não é JSON\\u001b[31m");
    expect(text.stdout).not.toContain("\u001b");
    expect(text.stdout).toMatch(/^original +CLI-\S+, sequence 1$/m);
  });

  test("FW-CLI-11 bytes that are not text are base64", async () => {
    await using job = await pipelineCase(nats);
    const config = await withDeadLetters(job, [new Uint8Array([0xff, 0x00])]);
    const { stdout } = await job.run("dlq", "show", config, "1", "--format", "json");
    expect(JSON.parse(stdout)).toMatchObject({ payload: "/wA=", payload_encoding: "base64" });
  });

  test("FW-CLI-11 an entry as large as the server takes is read whole", async () => {
    await using job = await pipelineCase(nats);
    const config = await withDeadLetters(job, []);
    const payload = "x".repeat(700_000);
    const record = { dlq_version: 1, payload_base64: Buffer.from(payload).toString("base64"), subject: "events.x" };
    await job.publish([{ subject: job.deadLetters.subject, body: JSON.stringify(record) }]);
    const { exitCode, stdout } = await job.run("dlq", "show", config, "1", "--format", "json");
    expect([exitCode, JSON.parse(stdout).payload === payload]).toEqual([0, true]);
  });

  test("FW-CLI-02 no entry at the sequence is exit 4, and a message on another subject is no entry", async () => {
    await using job = await pipelineCase(nats);
    const config = await withDeadLetters(job, []);
    await publishEntry(job, "first", 1);
    await job.publish([{ subject: `${job.deadLetters.subject}.done`, body: '{"sequence":1}' }]);
    for (const sequence of ["2", "99"]) {
      const { exitCode, stdout, stderr } = await job.run("dlq", "show", config, sequence);
      expect([exitCode, stdout]).toEqual([4, ""]);
      expect(stderr).toMatch(/^sinks: there is no dead letter at sequence \d+/);
    }
  });
});
