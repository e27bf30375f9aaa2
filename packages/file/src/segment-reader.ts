import { once } from "node:events";
import path from "node:path";
import { Readable } from "node:stream";
import { createGunzip } from "node:zlib";
import { errnoOf, type FileSystem, readFlags, readFully, withFile } from "./client.js";
import { keyOfLine } from "./record.js";
import { SegmentIndex } from "./segment-index.js";
import { isGzipSegment } from "./segment-name.js";

const chunkBytes = 1_048_576;
const newline = 0x0a;

/** Takes what a segment holds. */
export interface SegmentContent {
  /** A line without its line break. */
  line(line: Buffer): void;
  /** What follows is no whole line, or cannot be unpacked. */
  torn?(): void;
}

/**
 * Reads the keys of a segment into an index. With `flush` the file is flushed first, so that what is found is durable, also
 * when another process still writes it. What is not whole, or damaged, is left out: what is not found is written again.
 */
export async function readSegmentIndex(
  files: FileSystem,
  root: string,
  segment: string,
  flush: boolean,
  signal: AbortSignal,
): Promise<SegmentIndex> {
  const index = new SegmentIndex();
  const line = (bytes: Buffer) => {
    const key = keyOfLine(bytes);
    if (key !== null) index.add(key);
  };
  await readSegment(files, path.join(root, segment), flush, { line }, signal);
  return index;
}

/** Reads a segment from its first line to what is its last one now. */
export async function readSegment(
  files: FileSystem,
  segment: string,
  flush: boolean,
  content: SegmentContent,
  signal: AbortSignal,
): Promise<void> {
  const torn = () => content.torn?.();
  await withFile(files, segment, readFlags, async (descriptor) => {
    const size = Number((await files.facts(descriptor)).size);
    if (flush) await files.syncData(descriptor);
    const stored = chunksOf(files, descriptor, size, signal);
    for await (const line of linesOf(isGzipSegment(segment) ? unpacked(stored, torn) : stored, torn)) content.line(line);
  });
}

async function* chunksOf(files: FileSystem, descriptor: number, size: number, signal: AbortSignal): AsyncGenerator<Buffer> {
  for (let position = 0; position < size; ) {
    signal.throwIfAborted();
    const chunk = await readFully(files, descriptor, Math.min(chunkBytes, size - position), position);
    if (chunk.length === 0) return;
    position += chunk.length;
    yield chunk;
  }
}

async function* unpacked(chunks: AsyncIterable<Buffer>, torn: () => void): AsyncGenerator<Buffer> {
  const gunzip = createGunzip();
  const source = Readable.from(chunks, { objectMode: false });
  source.once("error", (error) => gunzip.destroy(error));
  source.pipe(gunzip);
  try {
    for await (const chunk of gunzip) yield chunk as Buffer;
  } catch (error) {
    // The last member of a segment that is still written may be torn; behind a damaged one nothing can be found.
    if (errnoOf(error)?.startsWith("Z_") !== true) throw error;
    torn();
  } finally {
    source.destroy();
    // Only then no read of the file is under way any more, and it may be closed.
    if (!source.closed) await once(source, "close");
  }
}

/** Whole lines without their line break. */
async function* linesOf(chunks: AsyncIterable<Buffer>, torn: () => void): AsyncGenerator<Buffer> {
  let carried: Buffer[] = [];
  for await (const chunk of chunks) {
    let start = 0;
    for (let end = chunk.indexOf(newline); end !== -1; end = chunk.indexOf(newline, start)) {
      const piece = chunk.subarray(start, end);
      yield carried.length === 0 ? piece : Buffer.concat([...carried, piece]);
      carried = [];
      start = end + 1;
    }
    if (start < chunk.length) carried.push(chunk.subarray(start));
  }
  if (carried.length > 0) torn();
}
