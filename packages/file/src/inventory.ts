import path from "node:path";
import type { InventoryReport, InventoryRequest } from "@sinks/core";
import { errnoOf, type FileSystem } from "./client.js";
import { toFileError } from "./errors.js";
import { readExisting } from "./existing-file.js";
import { eachInParallel } from "./in-parallel.js";
import type { FileOptions } from "./options.js";
import { storedIdentity } from "./record.js";
import { isLocked } from "./segment-lock.js";
import { isSegmentName } from "./segment-name.js";
import { readSegment } from "./segment-reader.js";
import { payloadState } from "./stored-payload.js";

/** Files that are read at the same time. */
const concurrency = 16;

/** Said of bodies that are JSON with white space which the record does not keep. */
const notCompared =
  "some bodies cannot be compared with their digests: they are JSON whose white space is not kept; size and syntax are right";

/** Where an inventory is made. */
export interface InventoryPlace {
  readonly files: FileSystem;
  /** Absolute path of the sink's directory; links in it are followed. */
  readonly directory: string;
  readonly options: Pick<FileOptions, "extension" | "filename_strategy">;
}

interface Found {
  readonly kind: "segment" | "message";
  readonly folder: string;
  readonly name: string;
}

/**
 * Reports every whole record below the directory, of message files and of segments alike, whatever the mode is now: what
 * was written under another one is stored too. Each record is read and parsed, because a name alone proves nothing. Nothing
 * is written, and memory does not grow with the number of files (FW-CLI-07).
 */
export async function takeInventory(
  place: InventoryPlace,
  request: InventoryRequest,
  report: InventoryReport,
  signal: AbortSignal,
): Promise<void> {
  const { files } = place;
  try {
    const root = await files.realPath(place.directory).catch((error: unknown) => {
      if (errnoOf(error) !== "ENOENT") throw error;
      report.absent("the directory of the file sink is not there");
      return null;
    });
    if (root === null) return;
    const look = (text: string | null, key: string | null, damaged: (what: string) => void, whole: string) => {
      if (text === null || key === null) return damaged(whole);
      const sequence = sequenceOf(key, request);
      if (sequence === null) return;
      const state = payloadState(text);
      if (state === "damaged") return damaged(`holds the record of sequence ${sequence} with a payload that does not match its digest`);
      if (state === "unknown") report.note(notCompared);
      report.stored(sequence);
    };
    await eachInParallel(candidates(place, root, request), concurrency, async ({ kind, folder, name }) => {
      signal.throwIfAborted();
      const damaged = (what: string) => report.damaged(`${path.relative(root, path.join(folder, name))} ${what}`);
      if (kind === "segment") {
        const line = (text: string) =>
          look(text, storedIdentity(text)?.idempotencyKey ?? null, damaged, "has a line that is no whole record");
        await readRecords(files, folder, name, line, damaged, signal);
      } else {
        const existing = await readExisting(files, path.join(folder, name), false);
        // Gone since it was listed.
        if (existing !== null) look(existing.text, existing.identity?.idempotencyKey ?? null, damaged, "holds no whole record");
      }
    });
  } catch (error) {
    signal.throwIfAborted();
    throw toFileError(error, "root");
  }
}

/** All files that may hold records: in the root, and in the folders right below it. Links are not followed. */
async function* candidates({ files, options }: InventoryPlace, root: string, request: InventoryRequest): AsyncGenerator<Found> {
  const mayHold = messageNames(options, request);
  const folders: string[] = [];
  for await (const entry of files.list(root)) {
    if (entry.isDirectory()) folders.push(path.join(root, entry.name));
    else if (entry.isFile() && isSegmentName(entry.name)) yield { kind: "segment", folder: root, name: entry.name };
    else if (entry.isFile() && mayHold(entry.name)) yield { kind: "message", folder: root, name: entry.name };
  }
  for (const folder of folders) {
    try {
      for await (const entry of files.list(folder)) {
        if (entry.isFile() && mayHold(entry.name)) yield { kind: "message", folder, name: entry.name };
      }
    } catch (error) {
      if (errnoOf(error) !== "ENOENT") throw error;
    }
  }
}

const sequenceName = /-([0-9]{20})(?:-[0-9a-f]{64})?$/;

/** Tells by its name whether a file may hold a message of interest; only sequence names say which one. */
function messageNames({ extension, filename_strategy: strategy }: InventoryPlace["options"], { from, to }: InventoryRequest) {
  const ends = extension.endsWith(".gz") ? [extension] : [`${extension}.gz`, extension];
  return (name: string): boolean => {
    const end = ends.find((candidate) => name.endsWith(candidate));
    if (end === undefined || name.startsWith(".")) return false;
    const digits = strategy === "stream_sequence" ? sequenceName.exec(name.slice(0, -end.length))?.[1] : undefined;
    return digits === undefined || (Number(digits) >= from && Number(digits) <= to);
  };
}

async function readRecords(
  files: FileSystem,
  folder: string,
  name: string,
  take: (text: string) => void,
  damaged: (what: string) => void,
  signal: AbortSignal,
): Promise<void> {
  try {
    // Asked first: a segment that is still locked may end in the middle of a batch that nobody was told of.
    const finished = !(await isLocked(files, folder, name));
    const content = {
      line: (line: Buffer) => take(line.toString("utf8")),
      torn: () => {
        if (finished) damaged("is torn: what follows its last whole record cannot be read");
      },
    };
    await readSegment(files, path.join(folder, name), false, content, signal);
  } catch (error) {
    if (errnoOf(error) !== "ENOENT") throw error;
  }
}

const wholeNumber = /^(?:0|[1-9][0-9]{0,15})$/;

/** Stream sequence of a key of the stream's life that is asked for; null for any other key. */
function sequenceOf(key: string, { keyPrefixes, from, to }: InventoryRequest): number | null {
  for (const prefix of keyPrefixes) {
    if (!key.startsWith(prefix)) continue;
    const digits = key.slice(prefix.length);
    const sequence = Number(digits);
    if (wholeNumber.test(digits) && sequence >= from && sequence <= to) return sequence;
  }
  return null;
}
