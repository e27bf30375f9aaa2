import { randomBytes } from "node:crypto";
import path from "node:path";
import { type NatsServer, startNats } from "@sinks/testing/services";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type PipelineCase, pipelineCase } from "./support/pipeline-case.js";
import { storedRecords } from "./support/stored-records.js";

let nats: NatsServer;
beforeAll(async () => {
  nats = await startNats();
});
afterAll(() => nats[Symbol.asyncDispose]());

const letters = (job: PipelineCase) => ({ enabled: true, subject: job.deadLetters.subject });
const strict = { type: "file", directory: "out", payload_mode: "json_only" };
const lenient = { type: "file", directory: "out" };

/** Dead letters of bodies that are not JSON; afterwards the configuration takes them, as after a repair. */
async function repaired(job: PipelineCase, bodies: readonly (string | Uint8Array)[], deadLetter: object = {}): Promise<string> {
  const sections = { dead_letter: { ...letters(job), ...deadLetter } };
  const config = await job.configure({ sink: strict, ...sections });
  for (const [index, body] of bodies.entries()) await job.publish([{ subject: `${job.prefix}.bad`, body, id: `m-${index + 1}` }]);
  expect((await job.run("run", config, "--once")).exitCode).toBe(0);
  return job.configure({ sink: lenient, ...sections });
}

interface Shown {
  readonly mode: string;
  readonly dry_run: boolean;
  readonly complete: boolean;
  readonly entries: readonly { readonly sequence: number; readonly stream_sequence: number; readonly result: string }[];
}

async function replay(job: PipelineCase, ...words: readonly string[]): Promise<{ exitCode: number | null; shown: Shown; stderr: string }> {
  const { exitCode, stdout, stderr } = await job.run("dlq", "replay", ...words, "--format", "json");
  return { exitCode, shown: JSON.parse(stdout) as Shown, stderr };
}

const results = ({ entries }: Shown): string[] => entries.map(({ stream_sequence: sequence, result }) => `${sequence} ${result}`);

async function doneFlags(job: PipelineCase, config: string): Promise<boolean[]> {
  const { stdout } = await job.run("dlq", "list", config, "--format", "json");
  return (JSON.parse(stdout) as { done: boolean }[]).map(({ done }) => done);
}

function storedIn(job: PipelineCase) {
  return storedRecords(path.join(job.project.folder, "out"));
}

describe("sinks dlq replay", () => {
  test("FW-CLI-11 FW-DLQ-10 writes what was repaired under its original key, marks it done, and may be repeated", async () => {
    await using job = await pipelineCase(nats);
    const config = await repaired(job, ["one", "two"]);
    const planned = await replay(job, config, "--all", "--dry-run");
    expect([planned.exitCode, results(planned.shown), planned.shown.dry_run]).toEqual([0, ["1 would_write", "2 would_write"], true]);
    expect([await storedIn(job), await doneFlags(job, config)]).toEqual([[], [false, false]]);
    const first = await replay(job, config, "2");
    expect([first.exitCode, results(first.shown)]).toEqual([0, ["2 written"]]);
    expect(await doneFlags(job, config)).toEqual([false, true]);
    const all = await replay(job, config, "--all");
    expect([all.exitCode, results(all.shown), all.shown.complete]).toEqual([0, ["1 written", "2 already_done"], true]);
    expect(await doneFlags(job, config)).toEqual([true, true]);
    expect(await storedIn(job)).toMatchObject([
      { stream_sequence: 1, message_id: "m-1" },
      { stream_sequence: 2, message_id: "m-2" },
    ]);
  });

  test("FW-DLQ-10 a message that the destination has already is not written again", async () => {
    await using job = await pipelineCase(nats);
    const config = await repaired(job, ["one"]);
    // The same message by way of another consumer, as after an operator's own repair.
    const beside = await job.configure({ sink: lenient, nats: { consumer: "beside" } });
    expect((await job.run("run", beside, "--once")).exitCode).toBe(0);
    expect(await storedIn(job)).toHaveLength(1);
    const again = await job.configure({ sink: lenient, dead_letter: letters(job) });
    expect(again).toBe(config);
    const { exitCode, shown } = await replay(job, again, "--all");
    expect([exitCode, results(shown)]).toEqual([0, ["1 already_stored"]]);
    expect(await storedIn(job)).toHaveLength(1);
  });

  test("FW-DLQ-10 FW-DLQ-05 a message that was cut into chunks is listed, shown and put back whole", async () => {
    await using job = await pipelineCase(nats);
    const body = randomBytes(60_000).toString("base64");
    const config = await repaired(job, [body], { max_bytes: 10_000 });
    const list = JSON.parse((await job.run("dlq", "list", config, "--format", "json")).stdout);
    expect(list).toHaveLength(1);
    const shown = JSON.parse((await job.run("dlq", "show", config, "1", "--format", "json")).stdout);
    expect(shown.payload === body).toBe(true);
    expect(results((await replay(job, config, "--all")).shown)).toEqual(["1 written"]);
    const [record] = await storedIn(job);
    expect(JSON.stringify(record)).toContain(body);
  });

  test("FW-DLQ-10 --publish sends it through the pipeline again, once", async () => {
    await using job = await pipelineCase(nats);
    const config = await repaired(job, ["one"]);
    const { exitCode, shown } = await replay(job, config, "1", "--publish");
    expect([exitCode, shown.mode, results(shown)]).toEqual([0, "publish", ["1 published"]]);
    expect(results((await replay(job, config, "--all", "--publish")).shown)).toEqual(["1 already_done"]);
    const { state } = await job.manager.streams.info(job.stream);
    expect(state.messages).toBe(2);
    const published = await job.manager.streams.getMessage(job.stream, { seq: 2 });
    expect([published?.subject, published?.string()]).toEqual([`${job.prefix}.bad`, "one"]);
    expect(published?.header.get("Nats-Msg-Id")).toMatch(/^replay-[0-9a-f]{64}$/);
    expect((await job.run("run", config, "--once")).exitCode).toBe(0);
    expect((await storedIn(job)).map((record) => record.stream_sequence)).toEqual([2]);
  });

  test("FW-DLQ-10 without a body the original is read while its stream has it; afterwards it is exit 4", async () => {
    await using job = await pipelineCase(nats);
    const config = await repaired(job, ["one", "two"], { include_payload: false });
    expect(results((await replay(job, config, "1")).shown)).toEqual(["1 written"]);
    await job.manager.streams.deleteMessage(job.stream, 2);
    const gone = await replay(job, config, "2");
    expect([gone.exitCode, results(gone.shown)]).toEqual([4, ["2 unavailable"]]);
    // Another stream under the old name has another message at this sequence.
    await job.manager.streams.delete(job.stream);
    await job.manager.streams.add({ name: job.stream, subjects: [`${job.prefix}.>`] });
    for (const body of ["other", "two"]) await job.publish([{ subject: `${job.prefix}.bad`, body }]);
    expect(results((await replay(job, config, "2")).shown)).toEqual(["2 unavailable"]);
    expect(await doneFlags(job, config)).toEqual([true, false]);
  });

  test("FW-DLQ-10 what the sink refuses again stays, and the exit code says so", async () => {
    await using job = await pipelineCase(nats);
    const lenientConfig = await repaired(job, ["one"]);
    const config = await job.configure({ sink: strict, dead_letter: letters(job) });
    expect(config).toBe(lenientConfig);
    const refused = await replay(job, config, "--all");
    expect([refused.exitCode, results(refused.shown)]).toEqual([1, ["1 failed"]]);
    expect(await doneFlags(job, config)).toEqual([false]);
  });

  test("FW-CLI-02 a sink that cannot be started as configured is exit 2, and nothing is marked", async () => {
    await using job = await pipelineCase(nats);
    await repaired(job, ["one"]);
    await job.project.file("taken", {});
    const config = await job.configure({ sink: { type: "file", directory: "taken" }, dead_letter: letters(job) });
    const { exitCode, stdout } = await job.run("dlq", "replay", config, "--all");
    expect([exitCode, stdout, await doneFlags(job, config)]).toEqual([2, "", [false]]);
  });

  test("FW-CLI-11 --where chooses by field", async () => {
    await using job = await pipelineCase(nats);
    const config = await repaired(job, ["one", "two", "three"]);
    const { shown } = await replay(job, config, "--where", "message_id=m-2", "--where", `subject=${job.prefix}.bad`);
    expect(results(shown)).toEqual(["2 written"]);
    expect(results((await replay(job, config, "--where", "error_code=permanent")).shown)).toEqual([]);
  });

  test("FW-DLQ-10 FW-CLI-02 a stream that does not take the markers is exit 2, and nothing is written", async () => {
    await using job = await pipelineCase(nats);
    const config = await repaired(job, ["one"]);
    await job.manager.streams.update(job.deadLetters.stream, { subjects: [job.deadLetters.subject] });
    const { exitCode, stdout, stderr } = await job.run("dlq", "replay", config, "--all");
    expect([exitCode, stdout]).toEqual([2, ""]);
    expect(stderr).toContain(`${job.deadLetters.subject}.done`);
    expect(await storedIn(job)).toEqual([]);
  });

  test.each([
    [[], /nothing chosen/],
    [["1", "--all"], /not both/],
    [["x1"], /integer from 1/],
    [["--where", "colour=red"], /the fields are stream, /],
    [["--where", "sink=a", "--where", "sink=b"], /names sink twice/],
  ])("FW-CLI-02 %j is a usage error", async (words, message) => {
    await using job = await pipelineCase(nats);
    const config = await job.configure({ dead_letter: letters(job) });
    const { exitCode, stdout, stderr } = await job.run("dlq", "replay", config, ...words);
    expect([exitCode, stdout]).toEqual([2, ""]);
    expect(stderr).toMatch(message);
  });

  test("FW-CLI-11 the text is a table; with -c every argument is a sequence", async () => {
    await using job = await pipelineCase(nats);
    const config = await repaired(job, ["one"]);
    const { exitCode, stdout } = await job.run("dlq", "replay", "-c", config, "1", "9");
    expect(exitCode).toBe(4);
    expect(stdout).toMatch(/^SEQUENCE +SUBJECT +ORIGINAL +RESULT +ERROR\n1 +\S+ +CLI-\S+:1 +written +-\n9 +- +- +not_found +-\n$/);
    expect((await job.run("dlq", "replay", "-c", config, "--where", "sink=none")).stdout).toBe("no dead letters to replay\n");
  });
});
