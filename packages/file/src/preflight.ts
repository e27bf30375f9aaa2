import path from "node:path";
import { type Check, ConfigurationError } from "@sinks/core";
import { errnoOf, type FileSystem } from "./client.js";
import { toFileError } from "./errors.js";
import { fileExtension } from "./file-name.js";
import type { FileOptions } from "./options.js";
import { probeNames } from "./probe.js";
import { isLeftBehind, readLock } from "./segment-lock.js";
import { lockName, segmentOfLock } from "./segment-name.js";
import type { Processes } from "./writer-identity.js";

/** Where the checks are made. */
export interface PreflightPlace {
  readonly files: FileSystem;
  readonly processes: Processes;
  /** Absolute path of the sink's directory. */
  readonly directory: string;
  readonly options: FileOptions;
  readonly nowMs: number;
}

const mebibyte = 1_048_576n;
/** Below this a warning is due, whatever the disk's size. */
const littleRoom = 256n * mebibyte;

/** Checks the directory without writing: there, ours to write, with room, and whose segments are open (FW-CLI-06). */
export async function checkDirectory(place: PreflightPlace, signal: AbortSignal): Promise<readonly Check[]> {
  const { files, directory, options } = place;
  const root = await nearestFolder(files, directory);
  const absent = root !== (await files.realPath(directory).catch(() => null));
  if (absent && !options.create_directory) {
    return [wrong("directory", "the directory is not there", "make it, or set sink.create_directory")];
  }
  const checks = [await directoryCheck(files, root, absent), await roomCheck(files, root)];
  if (absent || checks.some(({ status }) => status === "fail")) return checks;
  return [...checks, await namesCheck(place, root), await locksCheck(place, root, signal)];
}

/** The directory itself, or the nearest folder above it that is there. */
async function nearestFolder(files: FileSystem, directory: string): Promise<string> {
  for (let place = directory; ; place = path.dirname(place)) {
    try {
      return await files.realPath(place);
    } catch (error) {
      const above = path.dirname(place);
      if (!["ENOENT", "ENOTDIR"].includes(errnoOf(error) ?? "") || above === place) throw toFileError(error, "root");
    }
  }
}

async function directoryCheck(files: FileSystem, root: string, absent: boolean): Promise<Check> {
  const id = "directory";
  if (!(await files.linkFacts(root)).isDirectory())
    return wrong(id, "the path, or a part of it, is not a folder", "name another sink.directory");
  try {
    await files.mayWrite(root);
  } catch (error) {
    const remedy = errnoOf(error) === "EROFS" ? "mount it for writing" : "give this user the right to make files in it";
    const what = absent ? "the folder that the directory is to be made in" : "the directory";
    return wrong(id, `${what} may not be written (${errnoOf(error) ?? "unknown"})`, remedy);
  }
  return right(id, absent ? "the directory is not there yet; it is made at start" : "the directory is there and may be written");
}

/** A full disk is an outage, not a fault of the configuration: a start waits for room, so this warns and no more. */
async function roomCheck(files: FileSystem, root: string): Promise<Check> {
  const id = "room";
  const { bavail, bsize, ffree, files: inodes } = await files.room(root);
  const bytes = bavail * bsize;
  const remedy = "free some space, or name a sink.directory on another disk";
  const facts = `${bytes / mebibyte} MiB free`;
  // Some file systems have no such table and say 0 of 0.
  if (inodes > 0n && ffree === 0n) return { id, status: "warn", message: `${facts}, but no further file can be made (no inodes)`, remedy };
  return bytes < littleRoom ? { id, status: "warn", message: facts, remedy } : right(id, facts);
}

async function namesCheck({ files, options }: PreflightPlace, root: string): Promise<Check> {
  const id = "names";
  try {
    await probeNames(files, { path: root, mounted: false }, fileExtension(options));
    return right(id, "the longest names of files and folders fit");
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    return wrong(id, "the path of the directory is too long for the names of message files", "use a shorter sink.directory");
  }
}

/** Who else writes here: segments that are open, and those that a dead process left. */
async function locksCheck({ files, processes, nowMs }: PreflightPlace, root: string, signal: AbortSignal): Promise<Check> {
  const id = "locks";
  let open = 0;
  let left = 0;
  for await (const entry of files.list(root)) {
    signal.throwIfAborted();
    const segment = entry.isFile() ? segmentOfLock(entry.name) : null;
    if (segment === null) continue;
    const behind = await isBehind(files, processes, root, segment, nowMs);
    if (behind === true) left += 1;
    else if (behind === false) open += 1;
  }
  const facts = `${open} open segments, ${left} left by processes that have ended`;
  if (left === 0) return right(id, facts);
  return { id, status: "warn", message: facts, remedy: "nothing: the next start takes them over" };
}

/** Null when the lock went away meanwhile. */
async function isBehind(files: FileSystem, processes: Processes, root: string, segment: string, nowMs: number): Promise<boolean | null> {
  try {
    const { mtimeMs } = await files.linkFacts(path.join(root, lockName(segment)));
    return await isLeftBehind(await readLock(files, root, segment), processes, nowMs, Number(mtimeMs));
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return null;
    throw error;
  }
}

function right(id: string, message: string): Check {
  return { id, status: "pass", message, remedy: null };
}

function wrong(id: string, message: string, remedy: string): Check {
  return { id, status: "fail", message, remedy };
}
