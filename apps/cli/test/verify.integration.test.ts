import { readdir, readFile, rm, truncate, writeFile } from "node:fs/promises";
import path from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";
import { type NatsServer, startNats } from "@sinks/testing/services";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type PipelineCase, pipelineCase } from "./support/pipeline-case.js";

let nats: NatsServer;
beforeAll(async () => {
  nats = await startNats();
});
afterAll(() => nats[Symbol.asyncDispose]());

type Sections = Readonly<Record<string, object>>;
const everything = { expected: 0, stored: 0, dead_lettered: 0, pending: 0, purged: 0, missing: [], duplicates: [] };

async function publish(job: PipelineCase, count: number, subject = "a"): Promise<void> {
  await job.publish(Array.from({ length: count }, () => ({ subject: `${job.prefix}.${subject}` })));
}

/** Publishes, and moves everything into files. */
async function moved(job: PipelineCase, count: number, sections: Sections = {}): Promise<string> {
  const config = await job.configure(sections);
  await publish(job, count);
  const { exitCode, stderr } = await job.run("run", config, "--once");
  expect(exitCode, stderr).toBe(0);
  return config;
}

async function verified(job: PipelineCase, config: string, ...flags: string[]) {
  const { exitCode, stdout, stderr } = await job.run("verify", config, "--format", "json", ...flags);
  expect(stdout, stderr).not.toBe("");
  return { exitCode, stderr, result: JSON.parse(stdout) };
}

async function filesOf(job: PipelineCase, pattern: RegExp): Promise<string[]> {
  const entries = await readdir(path.join(job.project.folder, "out"), { withFileTypes: true, recursive: true });
  return entries
    .filter((entry) => entry.isFile() && pattern.test(entry.name))
    .map((entry) => path.join(entry.parentPath, entry.name))
    .sort();
}

function recordOf(job: PipelineCase, sequence: number): Promise<string[]> {
  return filesOf(job, new RegExp(`-${String(sequence).padStart(20, "0")}\\.json`));
}

const segments = { sink: { type: "file", directory: "out", mode: "segments" } };
const gzipFiles = { sink: { type: "file", directory: "out", compression: "gzip", pretty: true } };
const gzipSegments = { sink: { type: "file", directory: "out", mode: "segments", compression: "gzip" } };

describe("sinks verify", () => {
  test.each([
    ["files", {}],
    ["gzip files", gzipFiles],
    ["segments", segments],
    ["gzip segments", gzipSegments],
  ])("FW-CLI-07 %s: what was moved is stored, exit 0, and the document has its shape", async (_name, sections) => {
    await using job = await pipelineCase(nats);
    const config = await moved(job, 50, sections);
    const { exitCode, stderr, result } = await verified(job, config);
    expect([exitCode, stderr]).toEqual([0, ""]);
    expect(Object.keys(result)).toEqual(Object.keys(everything));
    expect(result).toEqual({ ...everything, expected: 50, stored: 50 });
  });

  test("FW-CLI-07 a deleted record is missing: exit 3, and its range is named", async () => {
    await using job = await pipelineCase(nats);
    const config = await moved(job, 20);
    for (const sequence of [3, 4, 5, 11]) for (const file of await recordOf(job, sequence)) await rm(file);
    const { exitCode, result } = await verified(job, config);
    expect(exitCode).toBe(3);
    expect(result).toEqual({
      ...everything,
      expected: 20,
      stored: 16,
      missing: [
        [3, 5],
        [11, 11],
      ],
    });
    const text = await job.run("verify", config);
    expect(text.exitCode).toBe(3);
    expect(text.stdout).toMatch(/^missing +4: 3-5, 11$/m);
    expect(text.stdout.trimEnd().endsWith("4 missing")).toBe(true);
  });

  test.each([
    ["cut short", (file: string) => truncate(file, 40)],
    ["emptied", (file: string) => truncate(file, 0)],
    ["overwritten", (file: string) => writeFile(file, '{"schema":"other"}')],
  ])("FW-CLI-07 a record file that was %s does not count, whatever its name says", async (_name, damage) => {
    await using job = await pipelineCase(nats);
    const config = await moved(job, 5);
    for (const file of await recordOf(job, 2)) await damage(file);
    const { exitCode, stderr, result } = await verified(job, config);
    expect([exitCode, result.missing]).toEqual([3, [[2, 2]]]);
    expect(stderr).toMatch(/holds no whole record/);
  });

  test.each([
    ["files", {}],
    ["pretty gzip files", gzipFiles],
    ["segments", segments],
  ])("FW-CLI-07 %s: a payload that does not match the digest in its record does not count as stored", async (_name, sections) => {
    await using job = await pipelineCase(nats);
    const config = await job.configure(sections);
    const bodies = ['{"name":"first"}', '{\n  "name": "second"\n}\n', "text of the third", '{"name":"fourth"}'];
    for (const body of bodies) await job.publish([{ subject: `${job.prefix}.a`, body }]);
    expect((await job.run("run", config, "--once")).exitCode).toBe(0);
    expect((await verified(job, config)).result).toEqual({ ...everything, expected: 4, stored: 4 });
    for (const file of await filesOf(job, /\.(?:nd)?json(?:\.gz)?$/)) {
      const bytes = await readFile(file);
      const text = (file.endsWith(".gz") ? gunzipSync(bytes) : bytes).toString("utf8");
      const damaged = text.replace("first", "thirst").replace("third", "fourth");
      await writeFile(file, file.endsWith(".gz") ? gzipSync(damaged) : damaged);
    }
    const { exitCode, stderr, result } = await verified(job, config);
    expect([exitCode, result.stored]).toEqual([3, 2]);
    expect(result.missing).toEqual([
      [1, 1],
      [3, 3],
    ]);
    expect(stderr).toMatch(/holds the record of sequence 1 with a payload that does not match its digest/);
  });

  test("FW-CLI-07 JSON whose white space is not kept counts as stored, and a note says that it was not compared", async () => {
    await using job = await pipelineCase(nats);
    const config = await job.configure(segments);
    await job.publish([{ subject: `${job.prefix}.a`, body: '{ "a" :1 ,\n "b":2}' }]);
    expect((await job.run("run", config, "--once")).exitCode).toBe(0);
    const { exitCode, stderr, result } = await verified(job, config);
    expect([exitCode, result.stored]).toEqual([0, 1]);
    expect(stderr).toMatch(/some bodies cannot be compared with their digests/);
  });

  test.each(["there", "purged", "of others too"])(
    "FW-CLI-07 the directory is gone, its messages in the stream are %s: all are missing",
    async (state) => {
      await using job = await pipelineCase(nats);
      const config = await moved(job, 5, state === "of others too" ? { nats: { subject: `${job.prefix}.a` } } : {});
      if (state !== "there") await job.manager.streams.purge(job.stream);
      await rm(path.join(job.project.folder, "out"), { recursive: true });
      const { exitCode, stderr, result } = await verified(job, config);
      expect([exitCode, result]).toEqual([3, { ...everything, expected: 5, missing: [[1, 5]] }]);
      expect(stderr).toMatch(/the directory of the file sink is not there/);
    },
  );

  test("FW-CLI-07 a torn segment: what it lost is missing", async () => {
    await using job = await pipelineCase(nats);
    const config = await moved(job, 20, segments);
    const [segment = ""] = await filesOf(job, /\.ndjson$/);
    const text = await readFile(segment, "utf8");
    await truncate(segment, text.length - 10);
    const { exitCode, stderr, result } = await verified(job, config);
    expect([exitCode, result.missing]).toEqual([3, [[20, 20]]]);
    expect(stderr).toMatch(/is torn/);
  });

  test("FW-CLI-07 a hole in a segment, and a damaged member of a compressed one, are found", async () => {
    await using job = await pipelineCase(nats);
    const config = await moved(job, 20, segments);
    const [segment = ""] = await filesOf(job, /\.ndjson$/);
    const lines = (await readFile(segment, "utf8")).split("\n");
    lines[6] = `${lines[6]?.slice(0, 300)}${"\0".repeat(20)}${lines[6]?.slice(320)}`;
    await writeFile(segment, lines.join("\n"));
    const holed = await verified(job, config);
    expect([holed.exitCode, holed.result.stored]).toEqual([3, 19]);
    expect(holed.stderr).toMatch(/has a line that is no whole record/);

    await using packed = await pipelineCase(nats);
    const packedConfig = await moved(packed, 20, gzipSegments);
    const [member = ""] = await filesOf(packed, /\.ndjson\.gz$/);
    await truncate(member, 60);
    const cut = await verified(packed, packedConfig);
    expect([cut.exitCode, cut.result.missing]).toEqual([3, [[1, 20]]]);
    expect(cut.stderr).toMatch(/is torn/);
  });

  test("FW-CLI-07 records stored twice are duplicates and no fault", async () => {
    await using job = await pipelineCase(nats);
    const config = await moved(job, 10, segments);
    const [segment = ""] = await filesOf(job, /\.ndjson$/);
    const lines = (await readFile(segment, "utf8")).split("\n");
    const again = lines.filter((line) => /"stream_sequence":[45],/.test(line));
    await writeFile(segment.replace(/\d+\.ndjson$/, "1.ndjson"), `${again.join("\n")}\n`);
    const { exitCode, result } = await verified(job, config);
    expect([exitCode, result.stored, result.duplicates]).toEqual([0, 10, [[4, 5]]]);
  });

  test("FW-CLI-07 dead letters account for their messages, once, and only those of this pipeline", async () => {
    await using job = await pipelineCase(nats);
    const config = await job.configure({
      sink: { type: "file", directory: "out", payload_mode: "json_only" },
      dead_letter: { enabled: true, subject: job.deadLetters.subject },
    });
    const bodies = ["{}", "not JSON", "{}", "nor this"];
    for (const body of bodies) await job.publish([{ subject: `${job.prefix}.x`, body }]);
    expect((await job.run("run", config, "--once")).exitCode).toBe(0);
    const strange = { dlq_version: 1, subject: "x", stream: job.stream, stream_sequence: 1, consumer: "another", sink: "file" };
    await job.publish([{ subject: job.deadLetters.subject, body: JSON.stringify(strange) }]);
    expect((await verified(job, config)).result).toEqual({ ...everything, expected: 4, stored: 2, dead_lettered: 2 });
    for (const file of await recordOf(job, 1)) await rm(file);
    expect((await verified(job, config)).result).toMatchObject({ dead_lettered: 2, missing: [[1, 1]] });
    await job.manager.streams.purge(job.deadLetters.stream);
    expect((await verified(job, config)).result).toMatchObject({
      dead_lettered: 0,
      missing: [
        [1, 2],
        [4, 4],
      ],
    });
  });

  test("FW-CLI-07 what was not delivered, or not acknowledged, is pending", async () => {
    await using job = await pipelineCase(nats);
    const config = await moved(job, 5);
    await publish(job, 7);
    expect((await verified(job, config)).result).toEqual({ ...everything, expected: 12, stored: 5, pending: 7 });
    await job.fetch(3);
    const { exitCode, result } = await verified(job, config);
    expect([exitCode, result]).toEqual([0, { ...everything, expected: 12, stored: 5, pending: 7 }]);
  });

  test("FW-CLI-07 acknowledged above the ack floor and not stored: the excess over what is pending is missing", async () => {
    await using job = await pipelineCase(nats);
    const config = await moved(job, 5);
    await publish(job, 6);
    const deliveries = await job.fetch(6);
    for (const delivery of deliveries.slice(2, 4)) await delivery.ackAck();
    const { exitCode, stderr, result } = await verified(job, config);
    expect([exitCode, result.pending, result.missing]).toEqual([3, 4, [[6, 7]]]);
    expect(stderr).toMatch(/not known by number/);
    for (const delivery of deliveries.slice(0, 2)) await delivery.ackAck();
    const later = await verified(job, config);
    expect([later.result.pending, later.result.missing, later.stderr]).toEqual([2, [[6, 9]], ""]);
  });

  test("FW-CLI-07 on a work queue what was acknowledged is gone, and missing when it was not stored", async () => {
    await using job = await pipelineCase(nats);
    await job.remakeStream({ retention: "workqueue" });
    const config = await moved(job, 30);
    await publish(job, 5);
    expect((await verified(job, config)).result).toEqual({ ...everything, expected: 35, stored: 30, pending: 5 });
    for (const file of await recordOf(job, 8)) await rm(file);
    const [first] = await job.fetch(1);
    await first?.ackAck();
    const { exitCode, result } = await verified(job, config);
    expect([exitCode, result.pending, result.missing]).toEqual([
      3,
      4,
      [
        [8, 8],
        [31, 31],
      ],
    ]);
  });

  test("FW-CLI-07 a work queue whose limits removed messages tells them as purged, with the reason", async () => {
    await using job = await pipelineCase(nats);
    await job.remakeStream({ retention: "workqueue", max_msgs: 10 });
    const config = await moved(job, 5);
    await publish(job, 14);
    const { exitCode, stderr, result } = await verified(job, config);
    expect([exitCode, result]).toEqual([0, { ...everything, expected: 19, stored: 5, pending: 10, purged: 4 }]);
    expect(stderr).toMatch(/purged: max_msgs/);
  });

  test("FW-CLI-07 on a stream that keeps its messages, purged and deleted ones are purged unless they were stored", async () => {
    await using job = await pipelineCase(nats);
    const config = await moved(job, 10);
    await publish(job, 10);
    await job.manager.streams.purge(job.stream, { seq: 14 });
    await job.manager.streams.deleteMessage(job.stream, 16);
    expect((await verified(job, config)).result).toEqual({ ...everything, expected: 20, stored: 10, pending: 6, purged: 4 });
    expect((await job.run("run", config, "--once")).exitCode).toBe(0);
    expect((await verified(job, config)).result).toEqual({ ...everything, expected: 20, stored: 16, purged: 4 });
    await job.manager.streams.purge(job.stream);
    expect((await verified(job, config)).result).toEqual({ ...everything, expected: 20, stored: 16, purged: 4 });
  });

  test("FW-CLI-07 a filter: messages of other subjects are not expected", async () => {
    await using job = await pipelineCase(nats);
    const config = await job.configure({ nats: { subject: `${job.prefix}.mine.*` } });
    for (let turn = 0; turn < 6; turn += 1) await job.publish([{ subject: `${job.prefix}.mine.x` }, { subject: `${job.prefix}.other` }]);
    expect((await job.run("run", config, "--once")).exitCode).toBe(0);
    await publish(job, 2, "mine.y");
    expect((await verified(job, config)).result).toEqual({ ...everything, expected: 8, stored: 6, pending: 2 });
    const [first = ""] = await filesOf(job, /\.json$/);
    await rm(first);
    const { exitCode, result } = await verified(job, config);
    expect([exitCode, result.stored, result.missing.length]).toEqual([3, 5, 1]);
  });

  test("FW-CLI-07 records of an earlier stream of the same name count for nothing", async () => {
    await using job = await pipelineCase(nats);
    const config = await moved(job, 5);
    await job.remakeStream({});
    await publish(job, 3);
    const gone = await job.run("verify", config, "--format", "json");
    expect(gone.exitCode).toBe(2);
    expect(JSON.parse(gone.stderr).error.code).toBe("consumer_missing");
    expect((await job.run("run", config, "--once")).exitCode).toBe(0);
    expect((await verified(job, config)).result).toEqual({ ...everything, expected: 3, stored: 3 });
  });

  test("FW-CLI-07 a consumer that began later expects only what came since", async () => {
    await using job = await pipelineCase(nats);
    await publish(job, 7);
    const config = await job.configure({ consumer_management: { deliver_policy: "new" } });
    await using cli = job.start("run", config);
    await job.untilConsumer();
    await publish(job, 4);
    await job.untilStored(4);
    cli.kill("SIGTERM");
    await cli.ended;
    expect((await verified(job, config)).result).toEqual({ ...everything, expected: 4, stored: 4 });
  });

  test("FW-CLI-07 --from and --to bound the look", async () => {
    await using job = await pipelineCase(nats);
    const config = await moved(job, 20);
    for (const sequence of [3, 12]) for (const file of await recordOf(job, sequence)) await rm(file);
    expect((await verified(job, config, "--from", "4", "--to", "11")).result).toEqual({ ...everything, expected: 8, stored: 8 });
    expect((await verified(job, config, "--from", "12")).result).toMatchObject({ expected: 9, missing: [[12, 12]] });
    expect((await verified(job, config, "--to", "900")).result).toMatchObject({ expected: 20 });
    expect((await verified(job, config, "--from", "900")).result).toEqual(everything);
    const wrong = await job.run("verify", config, "--from", "9", "--to", "4");
    expect([wrong.exitCode, wrong.stderr]).toEqual([2, "sinks: --from is above --to; give the lower sequence first\n"]);
  });

  test("FW-CLI-02 no stream is exit 2, no server exit 1, a connector that cannot list exit 2", async () => {
    await using job = await pipelineCase(nats);
    const config = await job.configure();
    const absent = await job.run("verify", config, "--set", "nats.stream=ABSENT");
    expect([absent.exitCode, absent.stdout]).toEqual([2, ""]);
    const unreachable = await job.run("verify", config, "--set", "nats.url=nats://127.0.0.1:1");
    expect([unreachable.exitCode, unreachable.stdout]).toEqual([1, ""]);
    const plugins = { enabled: true, allowed_sinks: ["probe"], require_production_ready: false };
    const probe = await job.run("verify", await job.configure({ sink: { type: "probe" }, plugins }));
    expect(probe.exitCode).toBe(2);
    expect(probe.stderr).toMatch(/^sinks: sink\.type: connector "probe" cannot list what it has stored/m);
  });

  test("FW-CLI-07 verify changes nothing: no file comes, goes or is touched", async () => {
    await using job = await pipelineCase(nats);
    const config = await moved(job, 10, segments);
    const before = await filesOf(job, /./);
    await job.run("verify", config);
    expect(await filesOf(job, /./)).toEqual(before);
  });
});
