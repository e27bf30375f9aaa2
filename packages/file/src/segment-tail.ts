import { crc32, inflateRaw } from "node:zlib";
import { type FileSystem, readFully } from "./client.js";

const chunkBytes = 1_048_576;
const newline = 0x0a;
const headerBytes = 10;
const trailerBytes = 8;

/**
 * Length of the whole part of a segment (FW-FILE-09): all records of all batches but the one that was torn. What follows was
 * never reported as stored, because a batch counts only after its flush.
 */
export function wholeLength(files: FileSystem, descriptor: number, size: number, gzip: boolean): Promise<number> {
  return gzip ? wholeMembers(files, descriptor, size) : wholeLines(files, descriptor, size);
}

/**
 * End of the last whole line before the first NUL byte. After a power cut a torn tail may have holes, which read as NUL;
 * JSON text holds none, so whatever stands behind the first one belongs to the torn batch too.
 */
async function wholeLines(files: FileSystem, descriptor: number, size: number): Promise<number> {
  let end = 0;
  for (let position = 0; position < size; ) {
    const chunk = await readFully(files, descriptor, Math.min(chunkBytes, size - position), position);
    if (chunk.length === 0) break;
    const hole = chunk.indexOf(0);
    const last = (hole === -1 ? chunk : chunk.subarray(0, hole)).lastIndexOf(newline);
    if (last !== -1) end = position + last + 1;
    if (hole !== -1) break;
    position += chunk.length;
  }
  return end;
}

/** End of the last whole gzip member; each batch is one. */
async function wholeMembers(files: FileSystem, descriptor: number, size: number): Promise<number> {
  let end = 0;
  while (end < size) {
    const length = await memberLength(files, descriptor, end, size - end);
    if (length === null) break;
    end += length;
  }
  return end;
}

async function memberLength(files: FileSystem, descriptor: number, start: number, rest: number): Promise<number | null> {
  for (let window = Math.min(chunkBytes, rest); ; window = Math.min(window * 4, rest)) {
    const bytes = await readFully(files, descriptor, window, start);
    // Our members have the plain header: deflate, no optional fields.
    if (bytes.length < headerBytes + trailerBytes || bytes[0] !== 0x1f || bytes[1] !== 0x8b || bytes[2] !== 8 || bytes[3] !== 0)
      return null;
    const inflated = await inflate(bytes.subarray(headerBytes));
    if (inflated === "damaged") return null;
    if (inflated !== "short") {
      const end = headerBytes + inflated.consumed;
      if (bytes.length >= end + trailerBytes) return isIntact(bytes, end, inflated.content) ? end + trailerBytes : null;
    }
    if (window === rest) return null;
  }
}

function isIntact(bytes: Buffer, trailer: number, content: Buffer): boolean {
  return bytes.readUInt32LE(trailer) === crc32(content) && bytes.readUInt32LE(trailer + 4) === content.length % 2 ** 32;
}

interface Inflated {
  readonly content: Buffer;
  /** Bytes of input that the stream took. */
  readonly consumed: number;
}

function inflate(bytes: Buffer): Promise<Inflated | "short" | "damaged"> {
  return new Promise((resolve) => {
    inflateRaw(bytes, { info: true }, (error, result) => {
      if (error !== null) return resolve((error as { code?: unknown }).code === "Z_BUF_ERROR" ? "short" : "damaged");
      const { buffer, engine } = result as unknown as { buffer: Buffer; engine: { bytesWritten: number } };
      resolve({ content: buffer, consumed: engine.bytesWritten });
    });
  });
}
