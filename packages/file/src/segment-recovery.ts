import path from "node:path";
import { changeFlags, errnoOf, type FileSystem, withFile } from "./client.js";
import { syncFolder } from "./directory-sync.js";
import { isLeftBehind, readLock, removeLock } from "./segment-lock.js";
import { isGzipSegment, lockName, segmentOfLock } from "./segment-name.js";
import { wholeLength } from "./segment-tail.js";
import type { Processes } from "./writer-identity.js";

/** What became of a segment that a dead process left. */
export interface RecoveredSegment {
  readonly name: string;
  readonly cutBytes: number;
  /** False when nothing whole was in it, or it was gone: then there is no file of that name any more. */
  readonly kept: boolean;
}

/** What recovery needs to know. */
export interface RecoveryParts {
  readonly files: FileSystem;
  readonly processes: Processes;
  readonly root: string;
  readonly flush: boolean;
  readonly nowMs: number;
  /** Segments that this process itself gave up. */
  readonly givenUp: ReadonlySet<string>;
}

/**
 * Takes over the segments whose writers are gone (FW-FILE-09): cuts the torn tail, flushes what is left and removes the lock.
 * Every step may be repeated, also by two processes at once: nothing is ever added to such a segment.
 */
export async function recoverSegments(parts: RecoveryParts, signal: AbortSignal): Promise<readonly RecoveredSegment[]> {
  const recovered: RecoveredSegment[] = [];
  for await (const entry of parts.files.list(parts.root)) {
    signal.throwIfAborted();
    const segment = entry.isFile() ? segmentOfLock(entry.name) : null;
    if (segment !== null && (await isOrphan(parts, segment))) recovered.push(await recover(parts, segment));
  }
  return recovered;
}

async function isOrphan(parts: RecoveryParts, segment: string): Promise<boolean> {
  const { files, root } = parts;
  if (parts.givenUp.has(segment)) return true;
  try {
    const { mtimeMs } = await files.linkFacts(path.join(root, lockName(segment)));
    return await isLeftBehind(await readLock(files, root, segment), parts.processes, parts.nowMs, Number(mtimeMs));
  } catch (error) {
    // Its writer closed it meanwhile, or another starter was faster.
    if (errnoOf(error) === "ENOENT") return false;
    throw error;
  }
}

async function recover(parts: RecoveryParts, segment: string): Promise<RecoveredSegment> {
  const { files, root, flush } = parts;
  let cutBytes = 0;
  let length = 0;
  try {
    await withFile(files, path.join(root, segment), changeFlags, async (descriptor) => {
      const size = Number((await files.facts(descriptor)).size);
      length = await wholeLength(files, descriptor, size, isGzipSegment(segment));
      cutBytes = size - length;
      if (cutBytes > 0) await files.truncate(descriptor, length);
      if (flush) await files.sync(descriptor);
    });
    if (length === 0) await files.unlink(path.join(root, segment));
    if (flush) await syncFolder(files, root);
  } catch (error) {
    if (errnoOf(error) !== "ENOENT") throw error;
  }
  await removeLock(files, root, segment, flush).catch((error: unknown) => {
    if (errnoOf(error) !== "ENOENT") throw error;
  });
  return { name: segment, cutBytes, kept: length > 0 };
}
