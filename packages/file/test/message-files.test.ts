import { mkdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import path from "node:path";
import { gunzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { nodeFileSystem } from "../src/client.js";
import {
  codes,
  createdNs,
  errno,
  filesWith,
  listFiles,
  message,
  openSink,
  readRecord,
  recordingFlushes,
  temporaryFolder,
  writeContext,
} from "./fixture.js";

const nameOf = (sequence: number, stream = "EVENTS") => `${stream}-${createdNs}-${String(sequence).padStart(20, "0")}.json`;
const withId = (sequence: number, messageId: string | null, body: unknown = { n: 1 }, deliveryCount = 1) =>
  message(sequence, body, { messageId, deliveryCount });

test("FW-FILE-01 FW-FILE-08 one record per message lies under the subject's folder and nothing else is left", async () => {
  await using folder = await temporaryFolder();
  await using opened = await openSink({ directory: folder.path });
  const messages = [message(1), message(2, "text"), message(3, Buffer.from([0xff])), message(4, "")];
  expect(codes(await opened.sink.writeBatch(messages, writeContext()))).toEqual(["stored", "stored", "stored", "stored"]);
  expect(await listFiles(folder.path, true)).toEqual([1, 2, 3, 4].map((sequence) => path.join("events.a", nameOf(sequence))));
  const record = await readRecord(path.join(folder.path, "events.a", nameOf(2)));
  expect(record).toMatchObject({
    schema: "nats_sinks.file.message.v1",
    subject: "events.a",
    stream_sequence: 2,
    metadata: { metadata_version: 1 },
  });
});

test("FW-CFG-13 partitions, metadata and pretty forms follow their options", async () => {
  await using folder = await temporaryFolder();
  await using opened = await openSink({
    directory: folder.path,
    partition_by_subject: false,
    include_metadata: false,
    pretty: true,
    extension: ".event",
  });
  await opened.sink.writeBatch([message(1, '{"a":1.10}')], writeContext());
  const [name = ""] = await listFiles(folder.path);
  expect(name).toBe(nameOf(1).replace(".json", ".event"));
  const text = await readFile(path.join(folder.path, name), "utf8");
  expect(text).toContain('\n  "payload": {\n    "a": 1.10\n  },\n');
  expect(text).not.toContain("metadata_version");
});

test("FW-FILE-08 gzip files are stable bytes with time 0", async () => {
  await using one = await temporaryFolder();
  await using two = await temporaryFolder();
  const stored: Buffer[] = [];
  for (const folder of [one, two]) {
    await using opened = await openSink({ directory: folder.path, compression: "gzip", include_metadata: false });
    await opened.sink.writeBatch([message(1, { pad: "x".repeat(100) }), message(2, { pad: "y".repeat(100_000) })], writeContext());
    for (const name of await listFiles(folder.path)) stored.push(await readFile(path.join(folder.path, name)));
  }
  expect(stored).toHaveLength(4);
  expect([stored[0], stored[1]]).toEqual([stored[2], stored[3]]);
  for (const bytes of stored) expect([bytes.readUInt32LE(4), bytes[9]]).toEqual([0, 255]);
  expect(JSON.parse(gunzipSync(stored[1] as Buffer).toString("utf8"))).toMatchObject({ stream_sequence: 2 });
});

test.each(["none", "gzip"] as const)("FW-FILE-05 a redelivery is stored once and its file (%s) is left as it was", async (compression) => {
  await using folder = await temporaryFolder();
  await using opened = await openSink({ directory: folder.path, compression });
  await opened.sink.writeBatch([message(7)], writeContext());
  const [name = ""] = await listFiles(folder.path);
  const before = await readFile(path.join(folder.path, name));
  const again = message(7, { n: 7 }, { deliveryCount: 2, receivedAtNs: 1_779_105_800_000_000_000n });
  expect(codes(await opened.sink.writeBatch([again, again], writeContext()))).toEqual(["stored", "stored"]);
  expect(await listFiles(folder.path, true)).toEqual([name]);
  expect(await readFile(path.join(folder.path, name))).toEqual(before);
});

test("FW-FILE-05 equal ids with the same payload are one message, with another payload a conflict for that message alone", async () => {
  await using folder = await temporaryFolder();
  await using opened = await openSink({ directory: folder.path, filename_strategy: "message_id" });
  const batch = [withId(1, "a"), withId(2, "a"), withId(3, "a", { n: 2 }), withId(4, "b")];
  expect(codes(await opened.sink.writeBatch(batch, writeContext()))).toEqual(["stored", "stored", "filename_conflict", "stored"]);
  expect(await listFiles(folder.path, true)).toEqual([path.join("events.a", "a.json"), path.join("events.a", "b.json")]);
});

test("FW-FILE-05 under payload_sha256 the same payload with another id is a conflict, without ids it is the same", async () => {
  await using folder = await temporaryFolder();
  await using opened = await openSink({ directory: folder.path, filename_strategy: "payload_sha256" });
  const batch = [withId(1, null, "same"), withId(2, null, "same"), withId(3, "id", "same"), withId(4, null, "other")];
  expect(codes(await opened.sink.writeBatch(batch, writeContext()))).toEqual(["stored", "stored", "filename_conflict", "stored"]);
});

test("FW-FILE-05 withheld bodies with one id are different messages", async () => {
  await using folder = await temporaryFolder();
  await using opened = await openSink({ directory: folder.path, filename_strategy: "message_id" });
  const withheld = (sequence: number) => message(sequence, "", { messageId: "a", headers: { "Nats-Msg-Size": "9" } });
  expect(codes(await opened.sink.writeBatch([withheld(1), withheld(2)], writeContext()))).toEqual(["stored", "filename_conflict"]);
  expect(codes(await opened.sink.writeBatch([withheld(1)], writeContext()))).toEqual(["stored"]);
});

test("FW-FILE-05 fail refuses a second message of one id, and never the redelivery of the first", async () => {
  await using folder = await temporaryFolder();
  await using opened = await openSink({ directory: folder.path, filename_strategy: "message_id", duplicate_policy: "fail" });
  expect(codes(await opened.sink.writeBatch([withId(1, "a"), withId(2, "a")], writeContext()))).toEqual(["stored", "filename_conflict"]);
  expect(codes(await opened.sink.writeBatch([withId(1, "a", { n: 1 }, 2)], writeContext()))).toEqual(["stored"]);
});

test("FW-FILE-05 overwrite replaces, the last of a batch wins", async () => {
  await using folder = await temporaryFolder();
  await using opened = await openSink({ directory: folder.path, filename_strategy: "message_id", duplicate_policy: "overwrite" });
  const batch = Array.from({ length: 40 }, (_, index) => withId(index + 1, "a", { n: index + 1 }));
  expect(new Set(codes(await opened.sink.writeBatch(batch, writeContext())))).toEqual(new Set(["stored"]));
  expect(await listFiles(folder.path, true)).toEqual([path.join("events.a", "a.json")]);
  expect(await readRecord(path.join(folder.path, "events.a", "a.json"))).toMatchObject({ payload: { n: 40 } });
});

test("FW-FILE-05 a file that is no record, or a torn one, is a conflict and stays", async () => {
  await using folder = await temporaryFolder();
  await using opened = await openSink({ directory: folder.path, filename_strategy: "message_id", partition_by_subject: false });
  const texts = ["", "{", "[]", '{"schema":"nats_sinks.file.message.v1"', "\u001f\u008bgarbage"];
  for (const [index, text] of texts.entries()) await writeFile(path.join(folder.path, `id-${index}.json`), text, "latin1");
  const batch = texts.map((_, index) => withId(index + 1, `id-${index}`));
  expect(codes(await opened.sink.writeBatch(batch, writeContext()))).toEqual(texts.map(() => "filename_conflict"));
  for (const [index, text] of texts.entries()) expect(await readFile(path.join(folder.path, `id-${index}.json`), "latin1")).toBe(text);
});

test.each(["skip_existing", "overwrite", "fail"] as const)(
  "FW-FILE-04 streams whose keys differ in account or domain never share a file under %s",
  async (duplicate_policy) => {
    await using folder = await temporaryFolder();
    await using opened = await openSink({ directory: folder.path, duplicate_policy });
    const batch = [message(1), message(1, { n: 2 }, { account: "A" }), message(1, { n: 3 }, { domain: "D" })];
    expect(codes(await opened.sink.writeBatch(batch, writeContext()))).toEqual(["stored", "stored", "stored"]);
    expect(codes(await opened.sink.writeBatch([...batch].reverse(), writeContext()))).toEqual(["stored", "stored", "stored"]);
    const names = await listFiles(folder.path);
    expect(names).toHaveLength(3);
    const keys = await Promise.all(names.map(async (name) => (await readRecord(path.join(folder.path, name)))["idempotency_key"]));
    expect(new Set(keys)).toEqual(new Set(batch.map((made) => made.idempotencyKey())));
  },
);

test("FW-PAY-07 a body that the mode refuses fails alone", async () => {
  await using folder = await temporaryFolder();
  await using opened = await openSink({ directory: folder.path, payload_mode: "json_only" });
  expect(codes(await opened.sink.writeBatch([message(1), message(2, "no json"), message(3)], writeContext()))).toEqual([
    "stored",
    "payload_not_json",
    "stored",
  ]);
  expect(await listFiles(folder.path, true)).toHaveLength(2);
});

test("FW-ENV-08 a message without any key fails alone", async () => {
  await using folder = await temporaryFolder();
  await using opened = await openSink({ directory: folder.path });
  const keyless = message(1, "", { streamSequence: null, headers: { "Nats-Msg-Size": "9" } });
  expect(codes(await opened.sink.writeBatch([keyless, message(2)], writeContext()))).toEqual(["validation_failed", "stored"]);
});

test("FW-FILE-06 a symbolic link in place of a subject's folder, or of a file, is permanent for those messages and followed by none", async () => {
  await using folder = await temporaryFolder();
  await using away = await temporaryFolder();
  await symlink(away.path, path.join(folder.path, "events.a"));
  await writeFile(path.join(folder.path, "events.b"), "a file where a folder must be");
  await mkdir(path.join(folder.path, "events.c"));
  await symlink(path.join(away.path, "target"), path.join(folder.path, "events.c", nameOf(3)));
  await mkdir(path.join(folder.path, "events.c", nameOf(4)));
  await using opened = await openSink({ directory: folder.path });
  const batch = ["a", "b", "c", "c", "d"].map((token, index) => message(index + 1, {}, { subject: `events.${token}` }));
  expect(codes(await opened.sink.writeBatch(batch, writeContext()))).toEqual([...Array<string>(4).fill("invalid_path"), "stored"]);
  expect(await listFiles(away.path, true)).toEqual([]);
  expect(await listFiles(folder.path, true)).toEqual(["events.b", path.join("events.d", nameOf(5))].sort());
  expect(await opened.sink.lookup(batch, new AbortController().signal)).toEqual([false, false, false, false, true]);
});

test("FW-FILE-06 hostile ids, subjects and streams stay inside the root", async () => {
  const hostile = [
    "../../etc/x",
    "/abs",
    "..",
    ".",
    "a/b",
    "a\\b",
    "%2e%2e%2f",
    "con",
    "name.",
    "~root",
    "-rf",
    "$(id)",
    ".hidden",
    "x.tmp",
    "É",
    "é",
    "a".repeat(400),
  ];
  await using folder = await temporaryFolder();
  const root = path.join(folder.path, "deep", "root");
  await using opened = await openSink({ directory: root, filename_strategy: "message_id" });
  const batch = hostile.map((text, index) => message(index + 1, { index }, { messageId: text, subject: text, stream: text }));
  expect(new Set(codes(await opened.sink.writeBatch(batch, writeContext())))).toEqual(new Set(["stored"]));
  const files = await listFiles(folder.path);
  expect(new Set(files.map((name) => name.toLowerCase())).size).toBe(hostile.length);
  for (const name of files) expect(name.startsWith(path.join("deep", "root"))).toBe(true);
});

test("FW-FILE-02 FW-FILE-03 a batch flushes each touched folder once, and the root once for new folders", async () => {
  await using folder = await temporaryFolder();
  const { files, flushed } = recordingFlushes(folder.path);
  await using opened = await openSink({ directory: folder.path }, { files });
  flushed.length = 0;
  const batch = (from: number) => Array.from({ length: 60 }, (_, index) => message(from + index, {}, { subject: `events.${index % 3}` }));
  await opened.sink.writeBatch(batch(1), writeContext());
  expect(flushed.sort()).toEqual(["", "events.0", "events.1", "events.2"]);
  flushed.length = 0;
  await opened.sink.writeBatch(batch(100), writeContext());
  expect(flushed.sort()).toEqual(["events.0", "events.1", "events.2"]);
  flushed.length = 0;
  await rm(path.join(folder.path, "events.1"), { recursive: true });
  await opened.sink.writeBatch([message(999, {}, { subject: "events.1" })], writeContext());
  expect(flushed.sort()).toEqual(["", "events.1"]);
});

test("FW-FILE-02 the files of a batch are written concurrently, within a bound", async () => {
  await using folder = await temporaryFolder();
  let open = 0;
  let most = 0;
  const files = filesWith({
    syncData: async (descriptor) => {
      open += 1;
      most = Math.max(most, open);
      await nodeFileSystem.syncData(descriptor);
      open -= 1;
    },
  });
  await using opened = await openSink({ directory: folder.path }, { files });
  for (const context of [writeContext(), writeContext({ ordered: true, lanes: Array<number>(200).fill(0) })]) {
    most = 0;
    const from = context.ordered ? 1000 : 1;
    const batch = Array.from({ length: 200 }, (_, index) => message(from + index));
    expect(new Set(codes(await opened.sink.writeBatch(batch, context)))).toEqual(new Set(["stored"]));
    expect(most).toBeGreaterThan(8);
    expect(most).toBeLessThanOrEqual(32);
  }
});

test("FW-FILE-03 a skip_existing hit flushes the file and its folder before it counts", async () => {
  await using folder = await temporaryFolder();
  const { files, flushed } = recordingFlushes(folder.path);
  await using first = await openSink({ directory: folder.path });
  await first.sink.writeBatch([message(1)], writeContext());
  await using opened = await openSink({ directory: folder.path }, { files });
  flushed.length = 0;
  await opened.sink.writeBatch([message(1)], writeContext());
  expect(flushed).toEqual([path.join("events.a", nameOf(1)), "events.a", ""]);
  flushed.length = 0;
  expect(await opened.sink.lookup([message(1), message(2)], new AbortController().signal)).toEqual([true, false]);
  expect(flushed).toEqual([path.join("events.a", nameOf(1)), "events.a"]);
});

test("FW-FILE-03 nothing counts when a folder cannot be flushed, other folders' messages do", async () => {
  await using folder = await temporaryFolder();
  let failing: string | null = null;
  const { files } = recordingFlushes(folder.path, (flushed) => {
    if (flushed === failing) throw errno("EIO");
  });
  await using opened = await openSink({ directory: folder.path }, { files });
  const [one, two] = [message(1), message(2, {}, { subject: "events.b" })];
  failing = "events.b";
  expect(codes(await opened.sink.writeBatch([one, two], writeContext()))).toEqual(["stored", "destination_unavailable"]);
  failing = "";
  const three = message(3, {}, { subject: "events.c" });
  expect(codes(await opened.sink.writeBatch([two, three], writeContext()))).toEqual(["stored", "destination_unavailable"]);
  failing = null;
  expect(codes(await opened.sink.writeBatch([three], writeContext()))).toEqual(["stored"]);
});

test("FW-FILE-07 a disk that refuses some files answers for those alone, and the next try stores them", async () => {
  await using folder = await temporaryFolder();
  let writes = 0;
  let full = true;
  const files = filesWith({
    write: (...parameters) => {
      writes += 1;
      return full && writes > 5 ? Promise.reject(errno("ENOSPC")) : nodeFileSystem.write(...parameters);
    },
  });
  await using opened = await openSink({ directory: folder.path }, { files });
  writes = 0;
  const batch = Array.from({ length: 50 }, (_, index) => message(index + 1));
  const first = codes(await opened.sink.writeBatch(batch, writeContext()));
  expect(first.filter((code) => code === "stored")).toHaveLength(5);
  expect(first.filter((code) => code === "destination_unavailable")).toHaveLength(45);
  expect(await listFiles(folder.path, true)).toHaveLength(5);
  full = false;
  expect(new Set(codes(await opened.sink.writeBatch(batch, writeContext())))).toEqual(new Set(["stored"]));
  expect(await listFiles(folder.path, true)).toHaveLength(50);
});

test("FW-RUN-35 in an ordered lane nothing becomes visible after a failure that stops it", async () => {
  await using folder = await temporaryFolder();
  let failing = false;
  const files = filesWith({
    link: (from, to) => (failing && to.endsWith(nameOf(3)) ? Promise.reject(errno("EBUSY")) : nodeFileSystem.link(from, to)),
  });
  await using opened = await openSink({ directory: folder.path }, { files });
  failing = true;
  const batch = [1, 2, 3, 4, 5, 6].map((sequence) => message(sequence));
  const context = writeContext({ ordered: true, lanes: [0, 1, 0, 0, 1, 0] });
  expect(codes(await opened.sink.writeBatch(batch, context))).toEqual([
    "stored",
    "stored",
    "temporary",
    "not_attempted",
    "stored",
    "not_attempted",
  ]);
  expect(await listFiles(folder.path, true)).toEqual([1, 2, 5].map((sequence) => path.join("events.a", nameOf(sequence))));
});

test.each([
  ["dead_letter_and_continue", ["stored", "payload_not_json", "stored"]],
  ["park_key", ["stored", "payload_not_json", "not_attempted"]],
  ["stop", ["stored", "payload_not_json", "not_attempted"]],
] as const)("FW-RUN-36 after a poison message a lane under %s goes on or not", async (onPoison, expected) => {
  await using folder = await temporaryFolder();
  await using opened = await openSink({ directory: folder.path, payload_mode: "json_only" });
  const context = writeContext({ ordered: true, lanes: [0, 0, 0], onPoison });
  expect(codes(await opened.sink.writeBatch([message(1), message(2, "poison"), message(3)], context))).toEqual(expected);
});

test("FW-RUN-35 a poison message behind a temporary failure of its lane is not judged yet", async () => {
  await using folder = await temporaryFolder();
  const files = filesWith({
    link: (from, to) => (to.endsWith(nameOf(1)) ? Promise.reject(errno("EBUSY")) : nodeFileSystem.link(from, to)),
  });
  await using opened = await openSink({ directory: folder.path, payload_mode: "json_only" }, { files });
  const context = writeContext({ ordered: true, lanes: [0, 0] });
  expect(codes(await opened.sink.writeBatch([message(1), message(2, "poison")], context))).toEqual(["temporary", "not_attempted"]);
});

test("FW-RUN-29 after an abort nothing new becomes visible and every message has an outcome", async () => {
  await using folder = await temporaryFolder();
  const abort = new AbortController();
  let links = 0;
  const files = filesWith({
    link: async (from, to) => {
      await nodeFileSystem.link(from, to);
      links += 1;
      if (to.endsWith(nameOf(1))) abort.abort();
    },
  });
  await using opened = await openSink({ directory: folder.path }, { files });
  links = 0;
  const batch = Array.from({ length: 200 }, (_, index) => message(index + 1));
  const outcomes = codes(await opened.sink.writeBatch(batch, writeContext({ signal: abort.signal })));
  expect(outcomes).toHaveLength(200);
  expect(outcomes.filter((code) => code === "stored")).toHaveLength(links);
  expect(new Set(outcomes)).toEqual(new Set(["stored", "not_attempted"]));
  expect(await listFiles(folder.path, true)).toHaveLength(links);
});

test("FW-REG-07 lookup answers in order and for spare names too", async () => {
  await using folder = await temporaryFolder();
  await using opened = await openSink({ directory: folder.path });
  const other = message(1, { n: 2 }, { account: "A" });
  await opened.sink.writeBatch([message(1), other, message(3)], writeContext());
  expect(await opened.sink.lookup([message(3), message(2), other, message(1)], new AbortController().signal)).toEqual([
    true,
    false,
    true,
    true,
  ]);
});
