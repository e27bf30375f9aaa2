import { gunzipSync, gzip, gzipSync } from "node:zlib";

/** Bodies up to this size are compressed in place; a trip to another thread costs more. */
const inPlaceBytes = 16_384;
/** Place of the operating system's mark in a gzip header, and the value for "unknown". */
const systemMark = { position: 9, unknown: 255 } as const;

/**
 * One gzip member. Its time is 0 and its system "unknown", so that equal input gives equal bytes at any time on any machine
 * (FW-FILE-08).
 */
export async function gzipMember(bytes: Uint8Array, level: number): Promise<Buffer> {
  const member = bytes.length <= inPlaceBytes ? gzipSync(bytes, { level }) : await compressElsewhere(bytes, level);
  member[systemMark.position] = systemMark.unknown;
  return member;
}

function compressElsewhere(bytes: Uint8Array, level: number): Promise<Buffer> {
  return new Promise((resolve, reject) => gzip(bytes, { level }, (error, member) => (error ? reject(error) : resolve(member))));
}

/** True when bytes begin like a gzip member. */
function isGzip(bytes: Uint8Array): boolean {
  return bytes[0] === 0x1f && bytes[1] === 0x8b;
}

/** Text of a stored file, compressed or not; null when it is damaged. */
export function storedText(bytes: Buffer): string | null {
  try {
    return (isGzip(bytes) ? gunzipSync(bytes) : bytes).toString("utf8");
  } catch {
    return null;
  }
}
