import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type FileSystem, nodeFileSystem } from "../src/client.js";
import { fileOptions } from "../src/options.js";
import { checkDirectory } from "../src/preflight.js";
import { readProcesses } from "../src/writer-identity.js";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "sinks-preflight-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function checked(directory: string, changes: Partial<FileSystem> = {}, options: object = {}) {
  const place = {
    files: { ...nodeFileSystem, ...changes },
    processes: await readProcesses(),
    directory: path.join(folder, directory),
    options: fileOptions.parse({ directory, ...options }),
    nowMs: Date.now(),
  };
  const checks = await checkDirectory(place, new AbortController().signal);
  return Object.fromEntries(checks.map(({ id, ...check }) => [id, check]));
}

const refused = (code: string) => async () => {
  throw Object.assign(new Error(code), { code });
};

function room(bytes: bigint, inodes: { readonly all: bigint; readonly free: bigint }): FileSystem["room"] {
  return async (place) => ({ ...(await nodeFileSystem.room(place)), bavail: bytes, bsize: 1n, files: inodes.all, ffree: inodes.free });
}

describe("checkDirectory", () => {
  test("FW-CLI-06 a folder that is there and writable passes all checks, also behind a link", async () => {
    await mkdir(path.join(folder, "good"));
    await symlink(path.join(folder, "good"), path.join(folder, "link"));
    for (const name of ["good", "link"]) {
      const found = await checked(name);
      expect(Object.keys(found)).toEqual(["directory", "room", "names", "locks"]);
      for (const id of ["directory", "names", "locks"]) expect(found[id]?.status).toBe("pass");
    }
  });

  test("FW-CLI-06 a folder that is not there is made at start, or named", async () => {
    expect((await checked("absent/deep"))["directory"]).toMatchObject({ status: "pass", message: /made at start/ });
    expect((await checked("absent/deep", {}, { create_directory: false }))["directory"]).toMatchObject({
      status: "fail",
      remedy: /make it/,
    });
  });

  test("FW-CLI-06 a file in its place, a refused right and a read-only disk fail", async () => {
    await writeFile(path.join(folder, "file"), "");
    expect((await checked("file"))["directory"]).toMatchObject({ status: "fail", message: /not a folder/ });
    expect((await checked("file/below"))["directory"]).toMatchObject({ status: "fail", message: /not a folder/ });
    await mkdir(path.join(folder, "rights"));
    expect((await checked("rights", { mayWrite: refused("EACCES") }))["directory"]).toMatchObject({ status: "fail", remedy: /right/ });
    expect((await checked("rights", { mayWrite: refused("EROFS") }))["directory"]).toMatchObject({ status: "fail", remedy: /mount/ });
  });

  test("FW-CLI-06 FW-FILE-07 room: a full disk, one that is nearly full and one without inodes warn, because a start waits for room", async () => {
    await mkdir(path.join(folder, "room"));
    const plenty = { all: 1000n, free: 1000n };
    const statusOf = async (give: FileSystem["room"]) => (await checked("room", { room: give }))["room"]?.status;
    expect(await statusOf(room(1000n, plenty))).toBe("warn");
    expect(await statusOf(room(100n * 1_048_576n, plenty))).toBe("warn");
    expect(await statusOf(room(10_000n * 1_048_576n, plenty))).toBe("pass");
    expect(await statusOf(room(10_000n * 1_048_576n, { all: 1000n, free: 0n }))).toBe("warn");
    expect(await statusOf(room(10_000n * 1_048_576n, { all: 0n, free: 0n }))).toBe("pass");
  });

  test("FW-CLI-06 locks: those of living writers are counted, those of dead ones warned of", async () => {
    await mkdir(path.join(folder, "locks"));
    const { self } = await readProcesses();
    const lock = (process: number, started: string) =>
      JSON.stringify({ schema: "sinks.file.segment_lock.v1", writer: { ...self, process, started }, closes_by_ms: Date.now() });
    const name = (sequence: number) => path.join(folder, "locks", `.S-${String(sequence).padStart(20, "0")}-17.ndjson.lock`);
    await writeFile(name(1), lock(self.process, self.started));
    expect((await checked("locks"))["locks"]).toMatchObject({ status: "pass", message: /^1 open segments, 0 left/ });
    await writeFile(name(2), lock(self.process, "1"));
    expect((await checked("locks"))["locks"]).toMatchObject({ status: "warn", message: /^1 open segments, 1 left/ });
  });
});
