import { execFileSync } from "node:child_process";
import { mkdtemp, rm, rmdir, statfs, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, test } from "vitest";
import { codes, listFiles, message, openSink, readRecord, readSegments, writeContext } from "./fixture.js";

/** Why no small file system can be mounted here, null when it can. */
function cannotMount(): string | null {
  if (process.platform !== "linux" || process.getuid?.() !== 0) return "mounting a small file system needs root on Linux";
  try {
    execFileSync("unshare", ["-m", "mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", "/mnt"], { stdio: "ignore" });
    return null;
  } catch {
    return "this machine does not let root mount a tmpfs";
  }
}

const obstacle = cannotMount();
if (obstacle !== null) process.stdout.write(`not run: full disk tests (${obstacle})\n`);

/** A file system of one MiB. */
async function smallDisk(): Promise<AsyncDisposable & { readonly path: string; remount(option: string): void }> {
  const folder = await mkdtemp(path.join(tmpdir(), "sinks-disk-"));
  execFileSync("mount", ["-t", "tmpfs", "-o", "size=1m", "tmpfs", folder]);
  return {
    path: folder,
    remount: (option) => execFileSync("mount", ["-o", `remount,${option}`, folder]),
    [Symbol.asyncDispose]: async () => {
      execFileSync("umount", ["-l", folder]);
      await rmdir(folder);
    },
  };
}

const batch = (from: number, count: number) => Array.from({ length: count }, (_, index) => message(from + index, { pad: "x".repeat(3000) }));

test.skipIf(obstacle !== null).each(["one_file_per_message", "segments"] as const)(
  "FW-FILE-07 a full disk holds messages in mode %s, nothing is half-visible, and space ends it without a restart",
  async (mode) => {
    await using disk = await smallDisk();
    await using opened = await openSink({ directory: disk.path, mode, include_metadata: false });
    const filler = path.join(disk.path, "filler");
    const { bavail, bsize } = await statfs(disk.path);
    await writeFile(filler, Buffer.alloc((bavail - 20) * bsize));

    const stored = new Set<number>();
    let refused = 0;
    for (let from = 1; from <= 41; from += 10) {
      const outcomes = codes(await opened.sink.writeBatch(batch(from, 10), writeContext()));
      for (const [index, code] of outcomes.entries()) {
        if (code === "stored") stored.add(from + index);
        else refused += 1;
      }
      expect(outcomes.filter((code) => code !== "stored" && code !== "destination_unavailable")).toEqual([]);
    }
    expect(stored.size).toBeGreaterThan(0);
    expect(refused).toBeGreaterThan(0);
    await expect(opened.sink.healthcheck(new AbortController().signal)).rejects.toMatchObject({ code: "destination_unavailable" });

    await rm(filler);
    await opened.sink.healthcheck(new AbortController().signal);
    expect(new Set(codes(await opened.sink.writeBatch(batch(1, 50), writeContext())))).toEqual(new Set(["stored"]));
    const records =
      mode === "segments"
        ? await readSegments(disk.path)
        : await Promise.all((await listFiles(disk.path)).map((name) => readRecord(path.join(disk.path, name))));
    expect(new Set(records.map((record) => record["stream_sequence"]))).toEqual(new Set(Array.from({ length: 50 }, (_, index) => index + 1)));
    if (mode === "one_file_per_message") expect(await listFiles(disk.path, true)).toHaveLength(50);
  },
);

test.skipIf(obstacle !== null).each(["one_file_per_message", "segments"] as const)(
  "FW-FILE-07 a disk that turns read-only holds messages in mode %s and recovers without a restart",
  async (mode) => {
    await using disk = await smallDisk();
    await using opened = await openSink({ directory: disk.path, mode });
    disk.remount("ro");
    expect(new Set(codes(await opened.sink.writeBatch(batch(1, 3), writeContext())))).toEqual(new Set(["destination_unavailable"]));
    disk.remount("rw");
    expect(new Set(codes(await opened.sink.writeBatch(batch(1, 3), writeContext())))).toEqual(new Set(["stored"]));
  },
);
