import { readFile } from "node:fs/promises";
import path from "node:path";
import { expect, test } from "vitest";
import { codes, createdNs, listFiles, message, openSink, readRecord, temporaryFolder, writeContext } from "./fixture.js";

test("FW-FILE-01 FW-FILE-08 one record per message lies under the subject's folder and nothing else is left", async () => {
  await using folder = await temporaryFolder();
  await using opened = await openSink({ directory: folder.path });
  const messages = [message(1), message(2, "text"), message(3, Buffer.from([0xff])), message(4, "")];
  expect(codes(await opened.sink.writeBatch(messages, writeContext()))).toEqual(["stored", "stored", "stored", "stored"]);
  expect(await listFiles(folder.path, true)).toEqual(
    [1, 2, 3, 4].map((sequence) => `events.a/EVENTS-${createdNs}-${String(sequence).padStart(20, "0")}.json`),
  );
  const record = await readRecord(path.join(folder.path, "events.a", `EVENTS-${createdNs}-00000000000000000002.json`));
  expect(record).toMatchObject({ schema: "nats_sinks.file.message.v1", schema_version: 1, subject: "events.a", stream_sequence: 2 });
});

test("FW-FILE-05 a redelivery is stored once and its file is left as it was", async () => {
  await using folder = await temporaryFolder();
  await using opened = await openSink({ directory: folder.path, partition_by_subject: false });
  await opened.sink.writeBatch([message(7)], writeContext());
  const [name = ""] = await listFiles(folder.path);
  const before = await readFile(path.join(folder.path, name));
  const again = message(7, { n: 7 }, { deliveryCount: 2, receivedAtNs: 1_779_105_800_000_000_000n });
  expect(codes(await opened.sink.writeBatch([again, again], writeContext()))).toEqual(["stored", "stored"]);
  expect(await listFiles(folder.path, true)).toEqual([name]);
  expect(await readFile(path.join(folder.path, name))).toEqual(before);
});
