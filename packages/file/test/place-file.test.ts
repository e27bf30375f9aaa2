import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { type FileSystem, nodeFileSystem, readFully, writeFully } from "../src/client.js";
import { FilePlacer } from "../src/place-file.js";
import { TemporaryNames } from "../src/temporary-files.js";
import { errno, filesWith, listFiles, temporaryFolder } from "./fixture.js";

const self = { host: "aaaaaaaa", boot: "bbbbbbbb", space: "cccccccc", process: 100, started: "5000" };
const placer = (files: FileSystem, flush = true) => new FilePlacer(files, new TemporaryNames(self, "0123abcd"), flush);

test("FW-FILE-01 bytes are written whole however few a call takes", async () => {
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ maxLength: 200 }), fc.infiniteStream(fc.integer({ min: 1, max: 7 })), async (bytes, counts) => {
      const target = Buffer.alloc(bytes.length);
      const files = filesWith({
        write: (_descriptor, source, offset, length, position) => {
          const count = Math.min(length, counts.next().value as number);
          target.set(source.subarray(offset, offset + count), position);
          return Promise.resolve(count);
        },
      });
      await writeFully(files, 0, bytes, 0);
      expect(target).toEqual(Buffer.from(bytes));
    }),
  );
});

test("FW-FILE-01 a write that takes nothing is an error, not an endless loop", async () => {
  const files = filesWith({ write: () => Promise.resolve(0) });
  await expect(writeFully(files, 0, Buffer.from("x"), 0)).rejects.toMatchObject({ code: "EIO" });
});

test("FW-FILE-05 a file is read whole however few a call gives", async () => {
  const content = Buffer.from("0123456789");
  const files = filesWith({
    read: (_descriptor, bytes, length, position) => Promise.resolve(content.copy(bytes, 0, position, position + Math.min(length, 3))),
  });
  expect(await readFully(files, 0, 8, 1)).toEqual(Buffer.from("12345678"));
  expect(await readFully(files, 0, 50, 4)).toEqual(Buffer.from("456789"));
});

test("FW-FILE-01 the temporary is flushed before it is linked, and only with fsync", async () => {
  await using folder = await temporaryFolder();
  const calls: string[] = [];
  const files = filesWith({
    write: (...parameters) => {
      calls.push("write");
      return nodeFileSystem.write(...parameters);
    },
    syncData: (descriptor) => {
      calls.push("flush");
      return nodeFileSystem.syncData(descriptor);
    },
    link: (from, to) => {
      calls.push("link");
      return nodeFileSystem.link(from, to);
    },
  });
  const temporary = await placer(files).prepare(folder.path, Buffer.from("x"));
  expect(await placer(files).link(temporary, path.join(folder.path, "a"))).toBe(true);
  expect(calls).toEqual(["write", "flush", "link"]);
  calls.length = 0;
  await using other = await temporaryFolder();
  await placer(files, false).prepare(other.path, Buffer.from("x"));
  expect(calls).toEqual(["write"]);
});

test("FW-FILE-01 a link never replaces what is there", async () => {
  await using folder = await temporaryFolder();
  const target = path.join(folder.path, "a");
  await writeFile(target, "old");
  const own = placer(nodeFileSystem);
  const temporary = await own.prepare(folder.path, Buffer.from("new"));
  expect(await own.link(temporary, target)).toBe(false);
  expect(await readFile(target, "utf8")).toBe("old");
  await own.replace(temporary, target);
  expect(await readFile(target, "utf8")).toBe("new");
  expect(await listFiles(folder.path, true)).toEqual(["a"]);
});

test.each(["write", "syncData", "close"] as const)("FW-FILE-07 a failing %s leaves nothing behind", async (call) => {
  await using folder = await temporaryFolder();
  const failing = filesWith({
    [call]: async (...parameters: Parameters<FileSystem["write"]>) => {
      if (call === "close") await nodeFileSystem.close(parameters[0]);
      throw errno("ENOSPC");
    },
  });
  await expect(placer(failing).prepare(folder.path, Buffer.from("x"))).rejects.toMatchObject({ code: "ENOSPC" });
  expect(await listFiles(folder.path, true)).toEqual([]);
});

test("FW-ERR-06 a temporary that cannot be removed fails nothing and is removed later", async () => {
  await using folder = await temporaryFolder();
  let refuse = true;
  const files = filesWith({ unlink: (file) => (refuse ? Promise.reject(errno("EIO")) : nodeFileSystem.unlink(file)) });
  const own = placer(files);
  await own.discard(await own.prepare(folder.path, Buffer.from("x")));
  expect(await listFiles(folder.path, true)).toHaveLength(1);
  refuse = false;
  await own.tidy();
  expect(await listFiles(folder.path, true)).toEqual([]);
});
