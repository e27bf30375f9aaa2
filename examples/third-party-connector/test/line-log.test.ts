import { appendFile, mkdtemp, open, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import {
  ConfigurationError,
  createEnvelope,
  DestinationUnavailableError,
  type Envelope,
  isErrorKind,
  isSinksError,
  type WriteContext,
  type WriteOutcome,
} from "@sinks/core";
import { describe, expect, test } from "vitest";
import { AppendFile, type OpenFile } from "../src/append-file.js";
import { lineLog } from "../src/connector.js";
import { toWriteError } from "../src/errors.js";
import { lineLogOptions } from "../src/options.js";
import { createLineLogSink } from "../src/sink.js";

const context: WriteContext = { signal: new AbortController().signal, ordered: false, lanes: null, onPoison: "dead_letter_and_continue" };
const startContext = {
  name: "line-log",
  pipeline: "READINGS/line-log/line-log",
  signal: context.signal,
  telemetry: { enabled: () => false, log: () => undefined, count: () => undefined },
};

function message(sequence: number, body: string): Envelope {
  return createEnvelope({
    subject: "readings.a",
    data: Buffer.from(body),
    stream: "READINGS",
    streamCreatedAt: "2026-01-31T10:00:00.123456789Z",
    streamSequence: BigInt(sequence),
    receivedAtNs: 1n,
  });
}

async function folder(): Promise<AsyncDisposable & { readonly file: string }> {
  const made = await mkdtemp(path.join(tmpdir(), "line-log-"));
  return { file: path.join(made, "readings.log"), [Symbol.asyncDispose]: () => rm(made, { recursive: true, force: true }) };
}

async function openSink(file: string, options: { readonly max_line_bytes?: number } = {}) {
  const sink = createLineLogSink(lineLogOptions.parse({ file, ...options }), "/nowhere");
  await sink.start(startContext);
  return Object.assign(sink, { [Symbol.asyncDispose]: () => sink.stop() });
}

const lines = async (file: string) => (await readFile(file, "utf8")).split("\n");
const codes = (outcomes: readonly WriteOutcome[] | void) => outcomes?.map((outcome) => outcome?.code ?? "stored");

describe("writing", () => {
  test("FW-REG-07 a message is one line with its key, whatever its body is", async () => {
    await using place = await folder();
    await using sink = await openSink(place.file);
    await sink.writeBatch([message(1, '{\n  "value": 1.50\n}'), message(2, "not JSON")], context);
    const [json, text, rest] = await lines(place.file);
    expect(json).toBe('{"key":"js:1:::READINGS:1769853600123456789:1","subject":"readings.a","payload":{   "value": 1.50 }}');
    expect(JSON.parse(text ?? "").payload.payload).toBe("not JSON");
    expect(rest).toBe("");
  });

  test("FW-ERR-02 a line that is too long is refused alone, and its neighbours are stored", async () => {
    await using place = await folder();
    await using sink = await openSink(place.file, { max_line_bytes: 256 });
    const outcomes = await sink.writeBatch([message(1, "1"), message(2, `"${"x".repeat(300)}"`), message(3, "3")], context);
    expect(codes(outcomes)).toEqual(["stored", "line_too_long", "stored"]);
    expect((await lines(place.file)).slice(0, -1).map((line) => JSON.parse(line).payload)).toEqual([1, 3]);
  });

  test("FW-RUN-08 batches written at the same time do not mix", async () => {
    await using place = await folder();
    await using sink = await openSink(place.file);
    const batches = Array.from({ length: 8 }, (_, batch) =>
      Array.from({ length: 50 }, (_, index) => message(batch * 50 + index + 1, `${batch}`)),
    );
    await Promise.all(batches.map((batch) => sink.writeBatch(batch, context)));
    const order = (await lines(place.file)).slice(0, -1).map((line) => JSON.parse(line).payload);
    expect(order).toHaveLength(400);
    expect(order.filter((batch, index) => index > 0 && batch !== order[index - 1])).toHaveLength(7);
  });
});

describe("faults", () => {
  test("what a crash left of a line is cut off at start", async () => {
    await using place = await folder();
    await writeFile(place.file, `{"key":"a"}\n{"key":"b${"x".repeat(200_000)}`);
    await using sink = await openSink(place.file);
    await sink.writeBatch([message(1, "1")], context);
    const [first, second, rest] = await lines(place.file);
    expect([first, JSON.parse(second ?? "").payload, rest]).toEqual(['{"key":"a"}', 1, ""]);
  });

  test("a write that fails half-way leaves nothing for the next one", async () => {
    await using place = await folder();
    const handle = await open(place.file, "w+");
    let failing = true;
    const file: OpenFile = {
      write: (async (bytes: Uint8Array, offset: number, length: number, position: number) => {
        if (!failing) return handle.write(bytes, offset, length, position);
        await handle.write(bytes, offset, Math.ceil(length / 2), position);
        throw Object.assign(new Error("made by a test"), { code: "ENOSPC" });
      }) as OpenFile["write"],
      datasync: () => handle.datasync(),
      truncate: (size) => handle.truncate(size),
      stat: (() => handle.stat()) as OpenFile["stat"],
      close: () => handle.close(),
    };
    const log = new AppendFile(file, 0);
    await expect(log.append(Buffer.from("a long line\n"))).rejects.toMatchObject({ code: "ENOSPC" });
    failing = false;
    await log.append(Buffer.from("short\n"));
    await log.close();
    expect(await readFile(place.file, "utf8")).toBe("short\n");
  });

  test("FW-FILE-07 a file that was removed or is written by others takes nothing, and that is an outage", async () => {
    await using removed = await folder();
    await using first = await openSink(removed.file);
    await rm(removed.file);
    await expect(first.writeBatch([message(1, "1")], context)).rejects.toBeInstanceOf(DestinationUnavailableError);
    await using shared = await folder();
    await using second = await openSink(shared.file);
    await appendFile(shared.file, "of another process\n");
    await expect(second.healthcheck(context.signal)).rejects.toThrow("another process");
    await expect(second.writeBatch([message(1, "1")], context)).rejects.toBeInstanceOf(DestinationUnavailableError);
  });

  test("a folder that is not there is a mistake in the configuration", async () => {
    await expect(openSink("/nowhere/at/all/readings.log")).rejects.toThrow(ConfigurationError);
    await expect(openSink("/nowhere/at/all/readings.log")).rejects.toThrow("sink.file");
  });

  test.each([
    ["ENOSPC", "DestinationUnavailableError"],
    ["EROFS", "DestinationUnavailableError"],
    ["EACCES", "CredentialsError"],
    ["EAGAIN", "TemporarySinkError"],
  ] as const)("FW-ERR-05 %s is a %s", (code, kind) => {
    const error = toWriteError(Object.assign(new Error("made by a test"), { code }));
    expect([isSinksError(error), isErrorKind(error, kind), error.name, error.destinationCode]).toEqual([true, true, kind, code]);
  });
});

test("FW-REG-01 the descriptor says what it is and fills its defaults", () => {
  expect([lineLog.name, lineLog.status, lineLog.productionReady]).toEqual(["line-log", "third_party", false]);
  expect(lineLogOptions.parse({ file: "a" })).toEqual({ file: "a", max_line_bytes: 1_048_576 });
  expect(lineLogOptions.safeParse({ file: "a", fle: "b" }).success).toBe(false);
});
