import path from "node:path";
import { createFlags, errnoOf, type FileSystem, readFlags, readFully, withFile, writeFully } from "./client.js";
import { syncFolder } from "./directory-sync.js";
import { lockName } from "./segment-name.js";
import { isGone, type Processes, type WriterIdentity } from "./writer-identity.js";

/** What a lock says: who writes the segment, and when it closes it at the latest. */
export interface SegmentLock {
  readonly writer: WriterIdentity;
  readonly closesByMs: number;
}

/** Beyond its closing time a segment of a machine that cannot be asked counts as left behind. */
const graceMs = 600_000;

/**
 * Puts a lock beside the segment, flushed before the segment is made; false when there is one already. A lock that was torn
 * while it was written stands for a segment that does not exist yet.
 */
export async function placeLock(files: FileSystem, root: string, segment: string, lock: SegmentLock, flush: boolean): Promise<boolean> {
  const { writer, closesByMs } = lock;
  const text = `${JSON.stringify({ schema: "sinks.file.segment_lock.v1", writer, closes_by_ms: closesByMs })}\n`;
  const place = path.join(root, lockName(segment));
  let descriptor: number;
  try {
    descriptor = await files.open(place, createFlags);
  } catch (error) {
    if (errnoOf(error) === "EEXIST") return false;
    throw error;
  }
  try {
    await writeFully(files, descriptor, Buffer.from(text, "utf8"), 0);
    if (flush) await files.syncData(descriptor);
  } catch (error) {
    await files.unlink(place).catch(() => undefined);
    throw error;
  } finally {
    await files.close(descriptor).catch(() => undefined);
  }
  return true;
}

/** True while somebody writes the segment, or has left it without closing it; without a lock it does not change any more. */
export async function isLocked(files: FileSystem, root: string, segment: string): Promise<boolean> {
  try {
    await files.linkFacts(path.join(root, lockName(segment)));
    return true;
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return false;
    throw error;
  }
}

/** Reads a lock; null when it says nothing that can be understood. */
export async function readLock(files: FileSystem, root: string, segment: string): Promise<SegmentLock | null> {
  const text = await withFile(files, path.join(root, lockName(segment)), readFlags, async (descriptor) => {
    const { size } = await files.facts(descriptor);
    return (await readFully(files, descriptor, Math.min(Number(size), 4096), 0)).toString("utf8");
  });
  return parseLock(text);
}

/** Reads the text of a lock; null when it is not one. */
export function parseLock(text: string): SegmentLock | null {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return null;
  }
  if (typeof value !== "object" || value === null) return null;
  const { writer, closes_by_ms: closesByMs } = value as { writer?: unknown; closes_by_ms?: unknown };
  return isWriter(writer) && typeof closesByMs === "number" ? { writer, closesByMs } : null;
}

function isWriter(value: unknown): value is WriterIdentity {
  if (typeof value !== "object" || value === null) return false;
  const { host, boot, space, process, started } = value as Record<string, unknown>;
  return [host, boot, space, started].every((word) => typeof word === "string") && typeof process === "number";
}

/** True when nobody writes the segment any more, so that its tail may be cut. */
export async function isLeftBehind(lock: SegmentLock | null, processes: Processes, nowMs: number, lockMadeMs: number): Promise<boolean> {
  if (lock === null) return nowMs - lockMadeMs > graceMs * 2;
  return isGone(lock.writer, processes, nowMs - lock.closesByMs, graceMs);
}

/** Removes a lock and flushes its folder. */
export async function removeLock(files: FileSystem, root: string, segment: string, flush: boolean): Promise<void> {
  await files.unlink(path.join(root, lockName(segment)));
  if (flush) await syncFolder(files, root);
}
