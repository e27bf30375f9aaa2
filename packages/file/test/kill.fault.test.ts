import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readdir } from "node:fs/promises";
import path from "node:path";
import { createInterface } from "node:readline";
import { build } from "tsup";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { FileOptions } from "../src/options.js";
import type { CrashReport } from "./crash-writer.js";
import { codes, listFiles, message, openSink, readRecord, readSegments, temporaryFolder, writeContext } from "./fixture.js";

const rounds = 20;
let program: Awaited<ReturnType<typeof temporaryFolder>>;

beforeAll(async () => {
  program = await temporaryFolder();
  await build({
    entry: [path.join(import.meta.dirname, "crash-writer.ts")],
    outDir: program.path,
    format: "esm",
    target: "node20.19",
    platform: "node",
    noExternal: [/.*/],
    outExtension: () => ({ js: ".mjs" }),
    config: false,
    silent: true,
  });
});
afterAll(() => program[Symbol.asyncDispose]());

/** Runs the writer until it has reported `batches`, then kills it after `delayMs`; gives the sequences it reported as durable. */
async function writeAndKill(first: number, options: Partial<FileOptions>, batches: number, delayMs: number): Promise<number> {
  const child: ChildProcess = spawn(
    process.execPath,
    [path.join(program.path, "crash-writer.mjs"), String(first), "50", JSON.stringify(options)],
    {
      stdio: ["ignore", "pipe", "inherit"],
    },
  );
  const exited = once(child, "exit");
  let last = first - 1;
  let seen = 0;
  let timer: NodeJS.Timeout | undefined;
  for await (const line of createInterface({ input: child.stdout as NodeJS.ReadableStream })) {
    if ((line as CrashReport) !== "started") {
      last = Number(line.split(" ")[2]);
      seen += 1;
    }
    if (seen >= batches && timer === undefined) timer = setTimeout(() => child.kill("SIGKILL"), delayMs);
  }
  clearTimeout(timer);
  const [code, signal] = (await exited) as [number | null, string | null];
  expect([code, signal]).toEqual([null, "SIGKILL"]);
  return last;
}

const expected = (last: number) => Array.from({ length: last }, (_, index) => index + 1);
const hidden = async (folder: string) => (await listFiles(folder, true)).filter((name) => path.basename(name).startsWith("."));

test("FW-FILE-01 FW-CERT-02 message files: after SIGKILL at random points every visible file is whole and nothing reported is missing", async () => {
  await using folder = await temporaryFolder();
  const options = { directory: folder.path, include_metadata: false };
  const reported = new Set<number>();
  let leftTemporaries = 0;
  let next = 1;
  for (let round = 0; round < rounds; round += 1) {
    const last = await writeAndKill(next, options, round % 3, Math.random() * 25);
    for (let sequence = next; sequence <= last; sequence += 1) reported.add(sequence);
    next = last + 1;
    leftTemporaries += (await hidden(folder.path)).length;
    const stored = new Set<number>();
    for (const name of await listFiles(folder.path))
      stored.add((await readRecord(path.join(folder.path, name)))["stream_sequence"] as number);
    expect([...reported].filter((sequence) => !stored.has(sequence))).toEqual([]);
  }
  expect(leftTemporaries).toBeGreaterThan(0);
  await using opened = await openSink(options);
  expect(await hidden(folder.path)).toEqual([]);
  const redelivered = expected(next + 60).map((sequence) => message(sequence, {}, { subject: `events.${sequence % 3}`, deliveryCount: 2 }));
  expect(new Set(codes(await opened.sink.writeBatch(redelivered, writeContext())))).toEqual(new Set(["stored"]));
  expect(await listFiles(folder.path)).toHaveLength(next + 60);
});

test.each(["none", "gzip"] as const)(
  "FW-FILE-09 FW-CERT-02 segments (%s): after SIGKILL at random points and a restart every line is whole and nothing reported is missing",
  async (compression) => {
    await using folder = await temporaryFolder();
    const options = { directory: folder.path, mode: "segments", compression, include_metadata: false, segment_max_bytes: 200_000 } as const;
    const reported = new Set<number>();
    let next = 1;
    for (let round = 0; round < rounds; round += 1) {
      const last = await writeAndKill(next, options, round % 4, Math.random() * 15);
      for (let sequence = next; sequence <= last; sequence += 1) reported.add(sequence);
      next = last + 1;
      {
        await using opened = await openSink(options);
        expect(await hidden(folder.path)).toEqual([]);
        const stored = new Set((await readSegments(folder.path)).map((record) => record["stream_sequence"] as number));
        expect([...reported].filter((sequence) => !stored.has(sequence))).toEqual([]);
        const asked = [...reported].slice(-500).map((sequence) => message(sequence, {}, { subject: `events.${sequence % 3}` }));
        expect(new Set(await opened.sink.lookup(asked, new AbortController().signal))).toEqual(new Set(asked.length === 0 ? [] : [true]));
      }
    }
    expect(reported.size).toBeGreaterThan(0);
    expect((await readdir(folder.path)).length).toBeGreaterThan(1);
  },
);
