import { rm, statfs, writeFile } from "node:fs/promises";
import path from "node:path";
import { mountSmall } from "@sinks/testing/faults";
import { expect, test } from "vitest";
import { codes, listFiles, message, openSink, readRecord, readSegments, writeContext } from "./fixture.js";

const modes = ["one_file_per_message", "segments"] as const;
const batch = (from: number, count: number) =>
  Array.from({ length: count }, (_, index) => message(from + index, { pad: "x".repeat(3000) }));

test.for(modes)(
  "FW-FILE-07 a full disk holds messages in mode %s, nothing is half-visible, and space ends it without a restart",
  async (mode, context) => {
    const { mount, reason } = await mountSmall(1_048_576);
    if (mount === null) return context.skip(reason);
    await using disk = mount;
    await using opened = await openSink({ directory: disk.folder, mode, include_metadata: false });
    const filler = path.join(disk.folder, "filler");
    const { bavail, bsize } = await statfs(disk.folder);
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
        ? await readSegments(disk.folder)
        : await Promise.all((await listFiles(disk.folder)).map((name) => readRecord(path.join(disk.folder, name))));
    expect(new Set(records.map((record) => record["stream_sequence"]))).toEqual(
      new Set(Array.from({ length: 50 }, (_, index) => index + 1)),
    );
    if (mode === "one_file_per_message") expect(await listFiles(disk.folder, true)).toHaveLength(50);
  },
);

test.for(modes)(
  "FW-FILE-07 a disk that turns read-only holds messages in mode %s and recovers without a restart",
  async (mode, context) => {
    const { mount, reason } = await mountSmall(1_048_576);
    if (mount === null) return context.skip(reason);
    await using disk = mount;
    await using opened = await openSink({ directory: disk.folder, mode });
    await disk.readOnly(true);
    expect(new Set(codes(await opened.sink.writeBatch(batch(1, 3), writeContext())))).toEqual(new Set(["destination_unavailable"]));
    await disk.readOnly(false);
    expect(new Set(codes(await opened.sink.writeBatch(batch(1, 3), writeContext())))).toEqual(new Set(["stored"]));
  },
);
