import { mkdir, readdir, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { hasEnsureSchema, hasHealthcheck, hasLookup, hasOrderedBatches, hasRetrySafety, isConnector, silentTelemetry } from "@sinks/core";
import { expect, test } from "vitest";
import { nodeFileSystem } from "../src/client.js";
import { file } from "../src/connector.js";
import { createFileSink, machine } from "../src/sink.js";
import { TemporaryNames } from "../src/temporary-files.js";
import { readProcesses } from "../src/writer-identity.js";
import { codes, errno, filesWith, listFiles, message, openSink, options, temporaryFolder, writeContext } from "./fixture.js";

const signal = new AbortController().signal;
const services = { telemetry: silentTelemetry, nowNs: () => 1_800_000_000_000_000_000n, workingDirectory: "/" };
const start = { name: "file", pipeline: "EVENTS/sink/file", telemetry: silentTelemetry, signal };

test("FW-REG-01 the descriptor is a connector and its factory touches nothing", async () => {
  await using folder = await temporaryFolder();
  expect(isConnector(file)).toBe(true);
  expect(file.name).toBe("file");
  file.create(options({ directory: path.join(folder.path, "new") }), services);
  expect(await readdir(folder.path)).toEqual([]);
});

test("FW-REG-07 FW-RUN-35 the sink has the abilities it declares", () => {
  const sink = createFileSink(options({ directory: "/nowhere" }), services);
  expect([hasHealthcheck(sink), hasLookup(sink), hasRetrySafety(sink), hasOrderedBatches(sink), hasEnsureSchema(sink)]).toEqual([
    true,
    true,
    true,
    true,
    false,
  ]);
  expect(sink.retrySafety([])).toBe("safe");
});

test("FW-CFG-13 a relative directory starts at the working directory", async () => {
  await using folder = await temporaryFolder();
  const sink = createFileSink(options({ directory: "a/b" }), { ...services, workingDirectory: folder.path });
  await sink.start(start);
  await sink.writeBatch([message(1)], writeContext());
  expect(await listFiles(path.join(folder.path, "a", "b"))).toHaveLength(1);
  await sink.stop();
});

test.each(["one_file_per_message", "segments"] as const)("FW-REG-07 an empty batch writes nothing in mode %s", async (mode) => {
  await using folder = await temporaryFolder();
  await using opened = await openSink({ directory: folder.path, mode });
  expect(await opened.sink.writeBatch([], writeContext())).toEqual([]);
  expect(await readdir(folder.path)).toEqual([]);
});

test("FW-REG-07 outside of start and stop a write is not attempted, and stop may come twice", async () => {
  await using folder = await temporaryFolder();
  const sink = createFileSink(options({ directory: folder.path }), services);
  await expect(sink.writeBatch([message(1)], writeContext())).rejects.toMatchObject({ name: "NotAttemptedError" });
  await sink.start(start);
  await sink.stop();
  await sink.stop();
  await expect(sink.writeBatch([message(1)], writeContext())).rejects.toMatchObject({ name: "NotAttemptedError" });
});

test.each(["one_file_per_message", "segments"] as const)(
  "FW-RUN-29 an aborted write in mode %s answers for every message and stores none",
  async (mode) => {
    await using folder = await temporaryFolder();
    await using opened = await openSink({ directory: folder.path, mode });
    const outcomes = await opened.sink.writeBatch([message(1), message(2)], writeContext({ signal: AbortSignal.abort() }));
    expect(codes(outcomes)).toEqual(["not_attempted", "not_attempted"]);
    expect(await readdir(folder.path)).toEqual([]);
  },
);

test.each(["one_file_per_message", "segments"] as const)(
  "FW-FILE-07 a root that goes away under way is an outage in mode %s, not a failure of messages",
  async (mode) => {
    await using folder = await temporaryFolder();
    const root = path.join(folder.path, "root");
    await using opened = await openSink({ directory: root, mode });
    await rm(root, { recursive: true });
    await expect(opened.sink.writeBatch([message(1)], writeContext())).rejects.toMatchObject({ name: "DestinationUnavailableError" });
    await expect(opened.sink.healthcheck(signal)).rejects.toMatchObject({ name: "DestinationUnavailableError" });
    await mkdir(root);
    await opened.sink.healthcheck(signal);
    expect(codes(await opened.sink.writeBatch([message(1)], writeContext()))).toEqual(["stored"]);
  },
);

test.each([
  ["ENOSPC", "DestinationUnavailableError"],
  ["EROFS", "DestinationUnavailableError"],
  ["EACCES", "CredentialsError"],
] as const)("FW-FILE-07 the health check meets %s and leaves nothing behind", async (code, name) => {
  await using folder = await temporaryFolder();
  let failing = false;
  const files = filesWith({ syncData: (descriptor) => (failing ? Promise.reject(errno(code)) : nodeFileSystem.syncData(descriptor)) });
  await using opened = await openSink({ directory: folder.path }, { files });
  failing = true;
  await expect(opened.sink.healthcheck(signal)).rejects.toMatchObject({ name });
  failing = false;
  await opened.sink.healthcheck(signal);
  expect(await readdir(folder.path)).toEqual([]);
});

test("FW-FILE-01 start removes what dead processes left and says how much", async () => {
  await using folder = await temporaryFolder();
  const { self } = await readProcesses();
  await mkdir(path.join(folder.path, "events.a"));
  const left = new TemporaryNames({ ...self, started: "1" }, "0123abcd").next();
  const running = new TemporaryNames(self, "0123abcd").next();
  for (const name of [left, running]) await writeFile(path.join(folder.path, "events.a", name), "half");
  await using opened = await openSink({ directory: folder.path });
  expect(await readdir(path.join(folder.path, "events.a"))).toEqual([running]);
  expect(opened.telemetry.events).toContainEqual({ event: "temporary files removed", fields: { count: 1 } });
});

test("FW-FILE-01 a file system without hard links is refused at start, and taken for segments", async () => {
  await using folder = await temporaryFolder();
  const files = filesWith({ link: () => Promise.reject(errno("EPERM")) });
  const world = { ...machine, files };
  const sink = createFileSink(options({ directory: folder.path }), services, world);
  await expect(sink.start(start)).rejects.toMatchObject({ name: "ConfigurationError" });
  expect(await readdir(folder.path)).toEqual([]);
  const segments = createFileSink(options({ directory: folder.path, mode: "segments" }), services, world);
  await segments.start(start);
  expect(codes(await segments.writeBatch([message(1)], writeContext()))).toEqual(["stored"]);
  await segments.stop();
});

test("FW-REG-07 a start that is given up rejects with the reason of its signal", async () => {
  await using folder = await temporaryFolder();
  const reason = new Error("given up");
  const sink = createFileSink(options({ directory: folder.path }), services);
  await expect(sink.start({ ...start, signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
});

test("FW-FILE-06 a directory too deep for the names of message files is refused at start, not message by message", async () => {
  await using folder = await temporaryFolder();
  const deep = path.join(folder.path, ...Array<string>(19).fill("d".repeat(200)));
  const sink = createFileSink(options({ directory: deep.slice(0, 3900) }), services);
  await expect(sink.start(start)).rejects.toMatchObject({ name: "ConfigurationError" });
});

test("FW-FILE-06 a file system with short names is refused at start", async () => {
  await using folder = await temporaryFolder();
  const files = filesWith({
    linkFacts: (place) => (path.basename(place).length > 143 ? Promise.reject(errno("ENAMETOOLONG")) : nodeFileSystem.linkFacts(place)),
  });
  const sink = createFileSink(options({ directory: folder.path }), services, { ...machine, files });
  await expect(sink.start(start)).rejects.toMatchObject({ name: "ConfigurationError" });
});
