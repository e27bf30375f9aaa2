import { mkdir, symlink, utimes, writeFile } from "node:fs/promises";
import path from "node:path";
import { expect, test } from "vitest";
import { nodeFileSystem } from "../src/client.js";
import { isTemporaryName, removeDeadTemporaries, TemporaryNames } from "../src/temporary-files.js";
import type { WriterIdentity } from "../src/writer-identity.js";
import { errno, filesWith, listFiles, temporaryFolder } from "./fixture.js";

const self: WriterIdentity = { host: "aaaaaaaa", boot: "bbbbbbbb", space: "cccccccc", process: 100, started: "5000" };
const processes = { self, startedOf: (id: number) => Promise.resolve(id === 100 ? "5000" : null) };
const nowMs = 1_800_000_000_000;
const signal = new AbortController().signal;
const nameOf = (writer: WriterIdentity) => new TemporaryNames(writer, "0123abcd").next();

test("FW-FILE-01 temporaries are hidden, end in .tmp and never repeat", () => {
  const names = new TemporaryNames(self, "0123abcd");
  const made = [names.next(), names.next(), new TemporaryNames(self, "0123abce").next()];
  expect(new Set(made).size).toBe(3);
  for (const name of made) {
    expect(name).toMatch(/^\..*\.tmp$/);
    expect(isTemporaryName(name)).toBe(true);
  }
  expect(isTemporaryName(".notes.tmp")).toBe(false);
});

test("FW-FILE-01 temporaries of dead processes are removed from the root and its folders, all else stays", async () => {
  await using folder = await temporaryFolder();
  const deep = path.join(folder.path, "events.a");
  await mkdir(deep);
  const dead = nameOf({ ...self, process: 300 });
  const [own, foreign, oldForeign] = [nameOf(self), nameOf({ ...self, host: "dddddddd" }), nameOf({ ...self, host: "eeeeeeee" })];
  for (const name of [dead, own, foreign, oldForeign, ".notes.tmp", "a.json"]) {
    for (const place of [folder.path, deep]) {
      await writeFile(path.join(place, name), "x");
      const seconds = nowMs / 1000 - (name === oldForeign ? 3601 : 3599);
      await utimes(path.join(place, name), seconds, seconds);
    }
  }
  expect(await removeDeadTemporaries(nodeFileSystem, processes, folder.path, nowMs, signal)).toBe(4);
  const kept = [own, foreign, ".notes.tmp", "a.json"];
  expect(await listFiles(folder.path, true)).toEqual([...kept, ...kept.map((name) => path.join("events.a", name))].sort());
});

test("FW-FILE-06 the search for temporaries follows no link", async () => {
  await using folder = await temporaryFolder();
  await using away = await temporaryFolder();
  const dead = nameOf({ ...self, process: 300 });
  await writeFile(path.join(away.path, dead), "x");
  await symlink(away.path, path.join(folder.path, "events.a"));
  await symlink(path.join(away.path, dead), path.join(folder.path, dead));
  expect(await removeDeadTemporaries(nodeFileSystem, processes, folder.path, nowMs, signal)).toBe(0);
  expect(await listFiles(away.path, true)).toEqual([dead]);
});

test.each(["EACCES", "EPERM", "ENOENT"])(
  "FW-FILE-01 a folder whose listing fails with %s is passed over, other errors are not",
  async (code) => {
    await using folder = await temporaryFolder();
    await mkdir(path.join(folder.path, "lost+found"));
    await mkdir(path.join(folder.path, "events.a"));
    const dead = nameOf({ ...self, process: 300 });
    await writeFile(path.join(folder.path, "events.a", dead), "x");
    const listing = (failing: string, error: string) =>
      filesWith({
        list: (place) => {
          if (path.basename(place) === failing) throw errno(error);
          return nodeFileSystem.list(place);
        },
      });
    expect(await removeDeadTemporaries(listing("lost+found", code), processes, folder.path, nowMs, signal)).toBe(1);
    await expect(removeDeadTemporaries(listing("lost+found", "EIO"), processes, folder.path, nowMs, signal)).rejects.toMatchObject({
      code: "EIO",
    });
    await expect(
      removeDeadTemporaries(listing(path.basename(folder.path), code), processes, folder.path, nowMs, signal),
    ).rejects.toMatchObject({ code });
  },
);
