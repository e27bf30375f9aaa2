import { spawn } from "node:child_process";
import { once } from "node:events";
import { expect, test } from "vitest";
import {
  isGone,
  readProcesses,
  startOfStat,
  type WriterIdentity,
  writerOfGroups,
  writerToken,
  writerTokenPattern,
} from "../src/writer-identity.js";

const self: WriterIdentity = { host: "aaaaaaaa", boot: "bbbbbbbb", space: "cccccccc", process: 100, started: "5000" };
const running = new Map([
  [100, "5000"],
  [200, "7000"],
]);
const processes = { self, startedOf: (id: number) => Promise.resolve(running.get(id) ?? null) };

test.each<[string, Partial<WriterIdentity>, number, boolean]>([
  ["this very process", {}, 1e12, false],
  ["another running process", { process: 200, started: "7000" }, 1e12, false],
  ["a process that is gone", { process: 300 }, 0, true],
  ["an earlier process of a number that is in use again", { process: 200, started: "6000" }, 0, true],
  ["an earlier process of our own number", { started: "4000" }, 0, true],
  ["a young process of a host of our name that booted at another time", { boot: "dddddddd" }, 999, false],
  ["an old process of a host of our name that booted at another time", { boot: "dddddddd" }, 1001, true],
  ["a young process of another container", { space: "dddddddd" }, 999, false],
  ["an old process of another container", { space: "dddddddd" }, 1001, true],
  ["a young process of another host", { host: "dddddddd", boot: "eeeeeeee" }, 999, false],
  ["an old process of another host", { host: "dddddddd", boot: "eeeeeeee" }, 1001, true],
])("FW-FILE-01 FW-FILE-09 %s", async (_who, change, ageMs, gone) => {
  expect(await isGone({ ...self, ...change }, processes, ageMs, 1000)).toBe(gone);
});

test("FW-FILE-01 an identity survives its way through a file name", () => {
  const groups = new RegExp(`^${writerTokenPattern}$`).exec(writerToken(self));
  expect(writerOfGroups(groups?.slice(1) ?? [])).toEqual(self);
});

test("FW-FILE-01 the start of a process is read behind any command name, and a zombie counts as gone", () => {
  const stat = (state: string) => `7 (odd ) name (x) ${state} ${Array.from({ length: 18 }, (_, index) => index).join(" ")} 123456 9 9`;
  expect(startOfStat(stat("S"))).toBe("123456");
  expect(startOfStat(stat("Z"))).toBeNull();
});

test("FW-FILE-01 a real process is seen while it lives and not afterwards", async () => {
  const real = await readProcesses();
  expect(await real.startedOf(process.pid)).toBe(real.self.started);
  const child = spawn(process.execPath, ["-e", "process.stdin.resume()"], { stdio: ["pipe", "ignore", "ignore"] });
  await once(child, "spawn");
  expect(await real.startedOf(child.pid as number)).not.toBeNull();
  child.kill("SIGKILL");
  await once(child, "exit");
  expect(await real.startedOf(child.pid as number)).toBeNull();
});
