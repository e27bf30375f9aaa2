import { writeFile } from "node:fs/promises";
import path from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { nodeFileSystem, readFlags, withFile } from "../src/client.js";
import { gzipMember } from "../src/compress.js";
import { wholeLength } from "../src/segment-tail.js";
import { temporaryFolder } from "./fixture.js";

const batch = fc
  .array(fc.string({ unit: "grapheme-ascii", maxLength: 40 }), { minLength: 1, maxLength: 5 })
  .map((lines) => lines.map((line) => `${JSON.stringify(line)}\n`).join(""));

async function lengthOf(folder: string, bytes: Uint8Array, gzip: boolean): Promise<number> {
  const file = path.join(folder, "segment");
  await writeFile(file, bytes);
  return withFile(nodeFileSystem, file, readFlags, (descriptor) => wholeLength(nodeFileSystem, descriptor, bytes.length, gzip));
}

test("FW-FILE-09 whole batches stay and a torn one leaves whole lines at most", async () => {
  await using folder = await temporaryFolder();
  await fc.assert(
    fc.asyncProperty(fc.array(batch, { maxLength: 4 }), batch, fc.double({ min: 0, max: 1, noNaN: true }), async (durable, torn, share) => {
      const kept = Buffer.from(durable.join(""));
      const tail = Buffer.from(torn).subarray(0, Math.floor(Buffer.byteLength(torn) * share));
      const length = await lengthOf(folder.path, Buffer.concat([kept, tail]), false);
      expect(length).toBeGreaterThanOrEqual(kept.length);
      expect(length).toBe(kept.length + tail.lastIndexOf(0x0a) + 1);
    }),
    { numRuns: 60 },
  );
});

test("FW-FILE-09 a hole in the torn batch cuts everything from the line it stands in", async () => {
  await using folder = await temporaryFolder();
  const kept = Buffer.from('{"a":1}\n{"a":2}\n');
  const holed = Buffer.concat([Buffer.from('{"a":3}\n{"a"'), Buffer.alloc(4096), Buffer.from(':4}\n{"a":5}\n')]);
  expect(await lengthOf(folder.path, Buffer.concat([kept, holed]), false)).toBe(kept.length + 8);
  expect(await lengthOf(folder.path, Buffer.concat([kept, Buffer.alloc(2_000_000)]), false)).toBe(kept.length);
});

test("FW-FILE-09 lines longer than a chunk are found whole or cut whole", async () => {
  await using folder = await temporaryFolder();
  const long = Buffer.from(`"${"x".repeat(2_500_000)}"\n`);
  expect(await lengthOf(folder.path, long, false)).toBe(long.length);
  expect(await lengthOf(folder.path, Buffer.concat([long, long.subarray(0, 2_000_000)]), false)).toBe(long.length);
  expect(await lengthOf(folder.path, long.subarray(0, 2_000_000), false)).toBe(0);
});

test("FW-FILE-09 gzip members are whole or cut", async () => {
  await using folder = await temporaryFolder();
  await fc.assert(
    fc.asyncProperty(
      fc.array(batch, { maxLength: 4 }),
      batch,
      fc.double({ min: 0, max: 0.999, noNaN: true }),
      async (durable, torn, share) => {
        const kept = Buffer.concat(await Promise.all(durable.map((text) => gzipMember(Buffer.from(text), 6))));
        const member = await gzipMember(Buffer.from(torn), 6);
        const tail = member.subarray(0, Math.floor(member.length * share));
        expect(await lengthOf(folder.path, Buffer.concat([kept, tail]), true)).toBe(kept.length);
      },
    ),
    { numRuns: 60 },
  );
});

test("FW-FILE-09 gzip members larger than the window are read whole, damaged ones are cut", async () => {
  await using folder = await temporaryFolder();
  const noise = Buffer.from(Array.from({ length: 400_000 }, (_, index) => Math.imul(index, 2_654_435_761).toString(36)).join(""));
  const large = await gzipMember(noise, 1);
  expect(large.length).toBeGreaterThan(1_048_576);
  const small = await gzipMember(Buffer.from("x\n"), 6);
  expect(await lengthOf(folder.path, Buffer.concat([small, large, small]), true)).toBe(small.length * 2 + large.length);
  const damaged = Buffer.from(large);
  damaged.writeUInt8(damaged.readUInt8(large.length - 6) ^ 1, large.length - 6);
  expect(await lengthOf(folder.path, Buffer.concat([small, damaged]), true)).toBe(small.length);
  expect(await lengthOf(folder.path, Buffer.concat([small, Buffer.alloc(100)]), true)).toBe(small.length);
});
