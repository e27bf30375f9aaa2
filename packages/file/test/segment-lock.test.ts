import fc from "fast-check";
import { expect, test } from "vitest";
import { nodeFileSystem } from "../src/client.js";
import { isLeftBehind, parseLock, placeLock, readLock, removeLock } from "../src/segment-lock.js";
import { isGzipSegment, isSegmentName, lockName, makeSegmentName, segmentOfLock } from "../src/segment-name.js";
import { errno, filesWith, listFiles, temporaryFolder } from "./fixture.js";

const writer = { host: "aaaaaaaa", boot: "bbbbbbbb", space: "cccccccc", process: 100, started: "5000" };
const processes = { self: writer, startedOf: (id: number) => Promise.resolve(id === 100 ? "5000" : null) };
const minutes = 60_000;

test("FW-FILE-09 segment names are read back, and no other name is taken for one", () => {
  fc.assert(
    fc.property(
      fc.string({ minLength: 1, maxLength: 40 }),
      fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }),
      fc.boolean(),
      (stream, sequence, gzip) => {
        const name = makeSegmentName(stream, sequence, 1_800_000_000_000_000_000n, gzip);
        expect([isSegmentName(name), isGzipSegment(name)]).toEqual([true, gzip]);
        expect(segmentOfLock(lockName(name))).toBe(name);
        expect(Buffer.byteLength(lockName(name))).toBeLessThanOrEqual(255);
      },
    ),
  );
  for (const other of ["a.ndjson", ".EVENTS-00000000000000000001-1.ndjson", "EVENTS-1-1.ndjson", "x.json"])
    expect(isSegmentName(other)).toBe(false);
  for (const other of [".a.lock", "EVENTS-00000000000000000001-1.ndjson.lock", ".EVENTS-00000000000000000001-1.ndjson"])
    expect(segmentOfLock(other)).toBeNull();
});

test("FW-FILE-09 only one of two writers gets a lock", async () => {
  await using folder = await temporaryFolder();
  const segment = "EVENTS-00000000000000000001-1.ndjson";
  const lock = { writer, closesByMs: 5 };
  expect(await placeLock(nodeFileSystem, folder.path, segment, lock, true)).toBe(true);
  expect(await placeLock(nodeFileSystem, folder.path, segment, { ...lock, closesByMs: 6 }, true)).toBe(false);
  expect(await readLock(nodeFileSystem, folder.path, segment)).toEqual(lock);
  await removeLock(nodeFileSystem, folder.path, segment, true);
  await expect(readLock(nodeFileSystem, folder.path, segment)).rejects.toMatchObject({ code: "ENOENT" });
});

test("FW-FILE-07 a lock that cannot be written whole is removed", async () => {
  await using folder = await temporaryFolder();
  const files = filesWith({ syncData: () => Promise.reject(errno("ENOSPC")) });
  const segment = "EVENTS-00000000000000000001-1.ndjson";
  await expect(placeLock(files, folder.path, segment, { writer, closesByMs: 5 }, true)).rejects.toMatchObject({ code: "ENOSPC" });
  expect(await listFiles(folder.path, true)).toEqual([]);
});

test.each(["", "{", "null", "7", '{"writer":{}}', '{"writer":null,"closes_by_ms":1}', JSON.stringify({ writer, closes_by_ms: "1" })])(
  "FW-FILE-09 %j is no lock",
  (text) => {
    expect(parseLock(text)).toBeNull();
  },
);

test("FW-FILE-09 a segment is left behind when its writer is gone, elsewhere only when its closing time is long over", async () => {
  const lock = (change: Partial<typeof writer>) => ({ writer: { ...writer, ...change }, closesByMs: 0 });
  expect(await isLeftBehind(lock({}), processes, 1e12, 0)).toBe(false);
  expect(await isLeftBehind(lock({ process: 300 }), processes, -1e12, 0)).toBe(true);
  expect(await isLeftBehind(lock({ host: "dddddddd" }), processes, 10 * minutes, 0)).toBe(false);
  expect(await isLeftBehind(lock({ host: "dddddddd" }), processes, 10 * minutes + 1, 0)).toBe(true);
  expect(await isLeftBehind(null, processes, 20 * minutes, 0)).toBe(false);
  expect(await isLeftBehind(null, processes, 20 * minutes + 1, 0)).toBe(true);
});
