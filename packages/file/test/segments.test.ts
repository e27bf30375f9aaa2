import { mkdir, readdir, readFile, rename, rm, truncate, writeFile } from "node:fs/promises";
import path from "node:path";
import { gunzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { nodeFileSystem } from "../src/client.js";
import { gzipMember } from "../src/compress.js";
import { lockName } from "../src/segment-name.js";
import { createFileSink, machine } from "../src/sink.js";
import { readProcesses } from "../src/writer-identity.js";
import {
  codes,
  errno,
  filesWith,
  listFiles,
  message,
  openSink,
  options,
  readSegments,
  recordingTelemetry,
  temporaryFolder,
  writeContext,
} from "./fixture.js";

const signal = new AbortController().signal;
const batch = (from: number, count: number) => Array.from({ length: count }, (_, index) => message(from + index));
const sequences = (records: Record<string, unknown>[]) => records.map((record) => record["stream_sequence"]);
const manual = () => {
  const waiting: (() => void)[] = [];
  const after = (_milliseconds: number, run: () => void) => {
    waiting.push(run);
    return () => undefined;
  };
  return { waiting, after };
};

test("FW-FILE-09 batches go into one segment, one record a line, in order, under a lock until it is closed", async () => {
  await using folder = await temporaryFolder();
  const opened = await openSink({ directory: folder.path, mode: "segments" });
  await opened.sink.writeBatch(batch(5, 3), writeContext());
  await opened.sink.writeBatch([message(8, "text"), message(9, "")], writeContext());
  const [name = ""] = await listFiles(folder.path);
  expect(name).toMatch(/^EVENTS-00000000000000000005-[0-9]{19}\.ndjson$/);
  expect((await readdir(folder.path)).sort()).toEqual([lockName(name), name].sort());
  expect(sequences(await readSegments(folder.path))).toEqual([5, 6, 7, 8, 9]);
  await opened.sink.stop();
  expect(await readdir(folder.path)).toEqual([name]);
});

test("FW-FILE-09 each batch is one gzip member with time 0", async () => {
  await using folder = await temporaryFolder();
  await using opened = await openSink({ directory: folder.path, mode: "segments", compression: "gzip", include_metadata: false });
  await opened.sink.writeBatch(batch(1, 3), writeContext());
  await opened.sink.writeBatch(batch(4, 2), writeContext());
  const [name = ""] = await listFiles(folder.path);
  expect(name).toMatch(/\.ndjson\.gz$/);
  const bytes = await readFile(path.join(folder.path, name));
  const text = gunzipSync(bytes).toString("utf8");
  const cut = text.split("\n").slice(0, 3).join("\n").length + 1;
  const members = [await gzipMember(Buffer.from(text.slice(0, cut)), 6), await gzipMember(Buffer.from(text.slice(cut)), 6)];
  expect(bytes.equals(Buffer.concat(members))).toBe(true);
  expect(sequences(await readSegments(folder.path))).toEqual([1, 2, 3, 4, 5]);
});

test("FW-FILE-09 one flush for each batch, and what waits meanwhile shares the next one", async () => {
  await using folder = await temporaryFolder();
  let flushes = 0;
  let release: () => void = () => undefined;
  let held: Promise<void> | null = null;
  const files = filesWith({
    syncData: async (descriptor) => {
      flushes += 1;
      await nodeFileSystem.syncData(descriptor);
      await held;
    },
  });
  await using opened = await openSink({ directory: folder.path, mode: "segments" }, { files });
  await opened.sink.writeBatch(batch(1, 100), writeContext());
  flushes = 0;
  await opened.sink.writeBatch(batch(101, 100), writeContext());
  expect(flushes).toBe(1);
  held = new Promise((resolve) => {
    release = resolve;
  });
  flushes = 0;
  const first = opened.sink.writeBatch(batch(201, 10), writeContext());
  await expect.poll(() => flushes).toBe(1);
  const later = [opened.sink.writeBatch(batch(211, 10), writeContext()), opened.sink.writeBatch(batch(221, 10), writeContext())];
  let early = false;
  void Promise.race([first, ...later]).then(() => {
    early = held !== null;
  });
  await expect.poll(() => readdir(folder.path)).toHaveLength(2);
  expect(early).toBe(false);
  held = null;
  release();
  await Promise.all([first, ...later]);
  expect(flushes).toBe(2);
  expect(sequences(await readSegments(folder.path))).toEqual(Array.from({ length: 230 }, (_, index) => index + 1));
});

test("FW-FILE-09 without fsync nothing is flushed", async () => {
  await using folder = await temporaryFolder();
  const files = filesWith({ syncData: () => Promise.reject(errno("EIO")), sync: () => Promise.reject(errno("EIO")) });
  await using opened = await openSink({ directory: folder.path, mode: "segments", fsync: false }, { files });
  expect(codes(await opened.sink.writeBatch(batch(1, 2), writeContext()))).toEqual(["stored", "stored"]);
});

test("FW-FILE-09 a segment that would grow beyond its size is closed first, a batch is never split", async () => {
  await using folder = await temporaryFolder();
  await using opened = await openSink({ directory: folder.path, mode: "segments", segment_max_bytes: 4096, include_metadata: false });
  for (let from = 1; from <= 31; from += 3) await opened.sink.writeBatch(batch(from, 3), writeContext());
  await opened.sink.writeBatch(batch(100, 30), writeContext());
  const names = await listFiles(folder.path);
  expect(names.length).toBeGreaterThan(3);
  const sizes = await Promise.all(names.map(async (name) => (await readFile(path.join(folder.path, name))).length));
  expect(sizes.filter((size) => size > 4096)).toHaveLength(1);
  const lines = await Promise.all(
    names.map(async (name) => (await readFile(path.join(folder.path, name), "utf8")).trim().split("\n").length),
  );
  for (const count of lines) expect(count % 3).toBe(0);
  expect((await readdir(folder.path)).filter((name) => name.endsWith(".lock"))).toHaveLength(1);
  expect(sequences(await readSegments(folder.path))).toHaveLength(63);
});

test("FW-FILE-09 a segment is closed at its age, also when nothing comes any more", async () => {
  await using folder = await temporaryFolder();
  const { waiting, after } = manual();
  await using opened = await openSink({ directory: folder.path, mode: "segments" }, { after });
  await opened.sink.writeBatch(batch(1, 1), writeContext());
  expect(waiting).toHaveLength(1);
  waiting[0]?.();
  await expect.poll(async () => (await readdir(folder.path)).filter((name) => name.endsWith(".lock"))).toEqual([]);
  await opened.sink.writeBatch(batch(2, 1), writeContext());
  expect(await listFiles(folder.path)).toHaveLength(2);
});

test("FW-FILE-09 each stream has its own segment", async () => {
  await using folder = await temporaryFolder();
  await using opened = await openSink({ directory: folder.path, mode: "segments" });
  const mixed = [message(1), message(2, {}, { stream: "OTHER" }), message(3), message(4, {}, { stream: null, messageId: "m" })];
  expect(codes(await opened.sink.writeBatch(mixed, writeContext()))).toEqual(["stored", "stored", "stored", "stored"]);
  const names = await listFiles(folder.path);
  expect(names.map((name) => name.replace(/-[0-9]+\.ndjson$/, ""))).toEqual([
    "EVENTS-00000000000000000001",
    "OTHER-00000000000000000002",
    "no-stream-00000000000000000004",
  ]);
});

test("FW-FILE-09 a redelivery within a batch, within the process and after a clean restart", async () => {
  await using folder = await temporaryFolder();
  const first = await openSink({ directory: folder.path, mode: "segments" });
  const again = (sequence: number) => message(sequence, { n: sequence }, { deliveryCount: 2 });
  expect(codes(await first.sink.writeBatch([message(1), message(1), message(2)], writeContext()))).toEqual(["stored", "stored", "stored"]);
  await first.sink.writeBatch([again(2), message(3)], writeContext());
  expect(sequences(await readSegments(folder.path))).toEqual([1, 2, 3]);
  await first.sink.stop();
  await using second = await openSink({ directory: folder.path, mode: "segments" });
  expect(await second.sink.lookup([message(3), message(4), message(1)], signal)).toEqual([true, false, true]);
});

test("FW-FILE-09 lookup reads segments of both kinds, by key, whoever wrote them", async () => {
  await using folder = await temporaryFolder();
  for (const compression of ["none", "gzip"] as const) {
    const opened = await openSink({ directory: folder.path, mode: "segments", compression });
    const from = compression === "none" ? 1 : 100;
    await opened.sink.writeBatch(
      [...batch(from, 50), message(from, "x", { streamSequence: null, messageId: `id-${compression}` })],
      writeContext(),
    );
    await opened.sink.writeBatch(batch(from + 50, 3), writeContext());
    await opened.sink.stop();
  }
  await using live = await openSink({ directory: folder.path, mode: "segments" });
  await live.sink.writeBatch(batch(200, 2), writeContext());
  await using reader = await openSink({ directory: folder.path, mode: "segments" });
  const byId = (id: string) => message(1, "other body", { streamSequence: null, messageId: id });
  const asked = [
    message(1),
    message(53),
    message(54),
    message(100),
    message(152),
    message(201),
    byId("id-none"),
    byId("id-gzip"),
    byId("id-no"),
  ];
  expect(await reader.sink.lookup(asked, signal)).toEqual([true, true, false, true, true, true, true, true, false]);
  expect(await reader.sink.lookup([message(1, {}, { streamCreatedAt: "2027-01-01T00:00:00Z" })], signal)).toEqual([false]);
});

test("FW-FILE-09 lookup reads a finished segment once, a damaged one as far as it goes", async () => {
  await using folder = await temporaryFolder();
  const writer = await openSink({ directory: folder.path, mode: "segments", compression: "gzip" });
  await writer.sink.writeBatch(batch(1, 50), writeContext());
  await writer.sink.writeBatch(batch(51, 50), writeContext());
  await writer.sink.stop();
  const [name = ""] = await listFiles(folder.path);
  const bytes = await readFile(path.join(folder.path, name));
  await writeFile(path.join(folder.path, name), Buffer.concat([bytes.subarray(0, bytes.length - 400), Buffer.alloc(400, 0x55)]));
  let opens = 0;
  const files = filesWith({
    open: (place, flags, mode) => {
      if (place.endsWith(name)) opens += 1;
      return nodeFileSystem.open(place, flags, mode);
    },
  });
  await using reader = await openSink({ directory: folder.path, mode: "segments" }, { files });
  expect(await reader.sink.lookup([message(1), message(200)], signal)).toEqual([true, false]);
  expect(await reader.sink.lookup([message(50), message(100)], signal)).toEqual([true, false]);
  expect(opens).toBe(1);
});

test("FW-RUN-36 a poison message fails alone or stops its lane, by the policy", async () => {
  await using folder = await temporaryFolder();
  await using opened = await openSink({ directory: folder.path, mode: "segments", payload_mode: "json_only" });
  const messages = [message(1), message(2, "poison"), message(3), message(4)];
  expect(codes(await opened.sink.writeBatch(messages, writeContext()))).toEqual(["stored", "payload_not_json", "stored", "stored"]);
  const stop = writeContext({ ordered: true, lanes: [0, 0, 0, 1], onPoison: "stop" });
  const later = [message(11), message(12, "poison"), message(13), message(14)];
  expect(codes(await opened.sink.writeBatch(later, stop))).toEqual(["stored", "payload_not_json", "not_attempted", "stored"]);
  const goOn = writeContext({ ordered: true, lanes: [0, 0, 0, 1] });
  expect(codes(await opened.sink.writeBatch([message(21), message(22, "poison"), message(23)], goOn))).toEqual([
    "stored",
    "payload_not_json",
    "stored",
  ]);
  expect(sequences(await readSegments(folder.path))).toEqual([1, 3, 4, 11, 14, 21, 23]);
});

test.each(["write", "syncData"] as const)(
  "FW-FILE-07 a failing %s stores nothing, and what it left is cut before the next batch",
  async (call) => {
    await using folder = await temporaryFolder();
    let failures = 0;
    const files = filesWith({
      [call]: async (...parameters: Parameters<typeof nodeFileSystem.write>) => {
        if (failures === 0) return nodeFileSystem[call](...parameters);
        failures -= 1;
        if (call === "write") {
          const [descriptor, bytes, offset, length, position] = parameters;
          await nodeFileSystem.write(descriptor, bytes, offset, Math.ceil(length / 2), position);
        }
        throw errno("ENOSPC");
      },
    });
    await using opened = await openSink({ directory: folder.path, mode: "segments" }, { files });
    await opened.sink.writeBatch(batch(1, 3), writeContext());
    failures = 1;
    expect(codes(await opened.sink.writeBatch(batch(4, 3), writeContext()))).toEqual(Array(3).fill("destination_unavailable"));
    expect(codes(await opened.sink.writeBatch(batch(7, 1), writeContext()))).toEqual(["stored"]);
    expect(sequences(await readSegments(folder.path))).toEqual([1, 2, 3, 7]);
    expect(await opened.sink.lookup([message(4), message(7)], signal)).toEqual([false, true]);
  },
);

test("FW-FILE-07 while the torn tail cannot be cut nothing is stored; the lock stays for whoever comes next", async () => {
  await using folder = await temporaryFolder();
  let broken = false;
  const files = filesWith({
    syncData: (descriptor) => (broken ? Promise.reject(errno("EIO")) : nodeFileSystem.syncData(descriptor)),
    truncate: (descriptor, length) => (broken ? Promise.reject(errno("EIO")) : nodeFileSystem.truncate(descriptor, length)),
  });
  const opened = await openSink({ directory: folder.path, mode: "segments" }, { files });
  await opened.sink.writeBatch(batch(1, 2), writeContext());
  broken = true;
  for (const from of [3, 5])
    expect(codes(await opened.sink.writeBatch(batch(from, 2), writeContext()))).toEqual(Array(2).fill("destination_unavailable"));
  await opened.sink.stop();
  const [name = ""] = await listFiles(folder.path);
  expect((await readdir(folder.path)).sort()).toEqual([lockName(name), name].sort());
  expect(opened.telemetry.events.map(({ event }) => event)).toContain("segment_not_closed");
});

test("FW-FILE-07 a segment that its own process gave up is recovered by it later", async () => {
  await using folder = await temporaryFolder();
  let broken = false;
  const files = filesWith({
    syncData: (descriptor) => (broken ? Promise.reject(errno("EIO")) : nodeFileSystem.syncData(descriptor)),
    truncate: (descriptor, length) => (broken ? Promise.reject(errno("EIO")) : nodeFileSystem.truncate(descriptor, length)),
  });
  const { waiting, after } = manual();
  const telemetry = recordingTelemetry();
  let now = 1_800_000_000_000_000_000n;
  const services = { telemetry, nowNs: () => now, workingDirectory: "/" };
  const sink = createFileSink(options({ directory: folder.path, mode: "segments" }), services, { ...machine, files, after });
  await sink.start({ name: "file", pipeline: "EVENTS/sink/file", telemetry, signal });
  await sink.writeBatch(batch(1, 2), writeContext());
  broken = true;
  await sink.writeBatch(batch(3, 2), writeContext());
  waiting[0]?.();
  await expect.poll(() => telemetry.events.map(({ event }) => event)).toContain("segment_not_closed");
  broken = false;
  now += 61_000_000_000n;
  await sink.writeBatch(batch(5, 1), writeContext());
  expect(telemetry.events.map(({ event }) => event)).toContain("segment recovered");
  await sink.stop();
  expect((await readdir(folder.path)).filter((name) => name.endsWith(".lock"))).toEqual([]);
  expect(new Set(sequences(await readSegments(folder.path)))).toEqual(new Set([1, 2, 3, 4, 5]));
});

test("FW-FILE-09 nothing is written into a segment that was moved away or removed", async () => {
  await using folder = await temporaryFolder();
  await using opened = await openSink({ directory: folder.path, mode: "segments" });
  await opened.sink.writeBatch(batch(1, 1), writeContext());
  const [name = ""] = await listFiles(folder.path);
  await mkdir(path.join(folder.path, "shipped"));
  await rename(path.join(folder.path, name), path.join(folder.path, "shipped", name));
  await opened.sink.writeBatch(batch(2, 1), writeContext());
  const [second = ""] = (await listFiles(folder.path)).filter((file) => !file.startsWith("shipped"));
  await rm(path.join(folder.path, second));
  await writeFile(path.join(folder.path, second), "");
  await opened.sink.writeBatch(batch(3, 1), writeContext());
  const third = (await listFiles(folder.path)).filter((file) => !file.startsWith("shipped") && file !== second);
  expect(third).toHaveLength(1);
  expect(await readFile(path.join(folder.path, third[0] as string), "utf8")).toContain('"stream_sequence":3');
});

test.each(["none", "gzip"] as const)(
  "FW-FILE-09 at start the torn tail of a dead process's segment (%s) is cut and its lock taken over",
  async (compression) => {
    await using folder = await temporaryFolder();
    const dead = await readProcesses();
    const processes = () => Promise.resolve({ ...dead, self: { ...dead.self, started: "1" } });
    const crashed = await openSink({ directory: folder.path, mode: "segments", compression }, { processes });
    await crashed.sink.writeBatch(batch(1, 3), writeContext());
    const [name = ""] = await listFiles(folder.path);
    const whole = await readFile(path.join(folder.path, name));
    await writeFile(path.join(folder.path, name), Buffer.concat([whole, whole.subarray(0, whole.length - 1)]));
    if (compression === "none") await writeFile(path.join(folder.path, name), Buffer.concat([whole, Buffer.from('{"schema":"nats')]));

    await using opened = await openSink({ directory: folder.path, mode: "segments", compression });
    expect(await readdir(folder.path)).toEqual([name]);
    expect(await readFile(path.join(folder.path, name))).toEqual(whole);
    expect(opened.telemetry.events.filter(({ event }) => event === "segment recovered")).toHaveLength(1);
    const again = [1, 2, 3].map((sequence) => message(sequence, { n: sequence }, { deliveryCount: 2 }));
    expect(codes(await opened.sink.writeBatch(again, writeContext()))).toEqual(["stored", "stored", "stored"]);
    expect(await listFiles(folder.path)).toEqual([name]);
    await crashed.sink.stop().catch(() => undefined);
  },
);

test("FW-FILE-09 a dead process's segment without a whole record, and a lock without a segment, are removed", async () => {
  await using folder = await temporaryFolder();
  const dead = await readProcesses();
  const processes = () => Promise.resolve({ ...dead, self: { ...dead.self, started: "1" } });
  const crashed = await openSink({ directory: folder.path, mode: "segments" }, { processes });
  await crashed.sink.writeBatch(batch(1, 1), writeContext());
  const [name = ""] = await listFiles(folder.path);
  await truncate(path.join(folder.path, name), 10);
  const lock = await readFile(path.join(folder.path, lockName(name)));
  await writeFile(path.join(folder.path, lockName("EVENTS-00000000000000000001-1.ndjson")), lock);
  await using opened = await openSink({ directory: folder.path, mode: "segments" });
  expect(await readdir(folder.path)).toEqual([]);
  await opened.sink.writeBatch(batch(1, 1), writeContext());
  await crashed.sink.stop().catch(() => undefined);
});

test("FW-FILE-09 a segment of a process that still runs is left alone", async () => {
  await using folder = await temporaryFolder();
  await using writer = await openSink({ directory: folder.path, mode: "segments" });
  await writer.sink.writeBatch(batch(1, 2), writeContext());
  const before = (await readdir(folder.path)).sort();
  await using other = await openSink({ directory: folder.path, mode: "segments" });
  expect((await readdir(folder.path)).sort()).toEqual(before);
  await other.sink.writeBatch(batch(3, 2), writeContext());
  await writer.sink.writeBatch(batch(5, 2), writeContext());
  expect(new Set(sequences(await readSegments(folder.path)))).toEqual(new Set([1, 2, 3, 4, 5, 6]));
  expect(await listFiles(folder.path)).toHaveLength(2);
});

test("FW-FILE-09 a closed sink leaves no empty segment", async () => {
  await using folder = await temporaryFolder();
  let full = false;
  const files = filesWith({
    write: (descriptor, bytes, offset, length, position) =>
      full && bytes.length > 1000 ? Promise.reject(errno("ENOSPC")) : nodeFileSystem.write(descriptor, bytes, offset, length, position),
  });
  const opened = await openSink({ directory: folder.path, mode: "segments" }, { files });
  full = true;
  expect(codes(await opened.sink.writeBatch(batch(1, 2), writeContext()))).toEqual(Array(2).fill("destination_unavailable"));
  expect(await listFiles(folder.path)).toHaveLength(1);
  await opened.sink.stop();
  expect(await readdir(folder.path)).toEqual([]);
});
