import { paddedSequence, streamLabel } from "./file-name.js";

const segmentName = /^.+-[0-9]{20}-[0-9]+\.ndjson(\.gz)?$/;

/** Name of a segment: `<stream>-<first sequence, 20 digits>-<opened ns>.ndjson`, with `.gz` when compressed (FW-FILE-09). */
export function makeSegmentName(stream: string | null, firstSequence: bigint | null, openedNs: bigint, gzip: boolean): string {
  return `${streamLabel(stream)}-${paddedSequence(firstSequence)}-${openedNs}.ndjson${gzip ? ".gz" : ""}`;
}

/** True for the name of a segment. */
export function isSegmentName(name: string): boolean {
  return !name.startsWith(".") && segmentName.test(name);
}

/** True when the segment of this name is made of gzip members. */
export function isGzipSegment(name: string): boolean {
  return name.endsWith(".gz");
}

/** Name of the file that says who writes a segment; it lies beside it while the segment is open. */
export function lockName(segment: string): string {
  return `.${segment}.lock`;
}

/** The segment that a lock of this name stands for; null for any other file. */
export function segmentOfLock(name: string): string | null {
  if (!name.startsWith(".") || !name.endsWith(".lock")) return null;
  const segment = name.slice(1, -".lock".length);
  return isSegmentName(segment) ? segment : null;
}
