import type { Envelope } from "@sinks/core";
import { errnoOf, type FileSystem, readFlags, readFully, withFile } from "./client.js";
import { storedText } from "./compress.js";
import { invalidPath } from "./errors.js";
import type { FileOptions } from "./options.js";
import { type StoredIdentity, storedIdentity } from "./record.js";

/** What stands at a path: nothing, or a file and what it says of itself (null when it is no record of ours). */
export interface ExistingFile {
  readonly identity: StoredIdentity | null;
  /** What the file holds; null when it cannot be read as text. */
  readonly text: string | null;
}

/**
 * Reads who the file at `path` belongs to; null when there is none. With `flush` the file is flushed first, because the
 * process that wrote it may have ended before it came to that (FW-FILE-03). Links and folders are refused.
 */
export async function readExisting(files: FileSystem, path: string, flush: boolean): Promise<ExistingFile | null> {
  try {
    return await withFile(files, path, readFlags, async (descriptor) => {
      const facts = await files.facts(descriptor);
      if (!facts.isFile()) throw invalidPath(facts.isDirectory() ? "EISDIR" : "EEXIST");
      if (flush) await files.sync(descriptor);
      const text = storedText(await readFully(files, descriptor, Number(facts.size), 0));
      return { identity: text === null ? null : storedIdentity(text), text };
    });
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return null;
    throw error;
  }
}

/** What duplicates are judged by. */
export type DuplicateRules = Pick<FileOptions, "filename_strategy" | "duplicate_policy">;

/** True when the stored record is this very message: it carries the same key, on whatever delivery. */
export function holdsKey(identity: StoredIdentity | null, message: Envelope): boolean {
  return identity !== null && identity.idempotencyKey === message.idempotencyKey();
}

/**
 * True when the stored record makes writing the message needless (FW-FILE-05): the same key, or, where names come from ids
 * or digests, the same id and the same payload. `fail` takes only the same key: a redelivery is no second message.
 */
export function holdsSame(identity: StoredIdentity | null, message: Envelope, sha256: string | null, rules: DuplicateRules): boolean {
  if (holdsKey(identity, message)) return true;
  if (identity === null || rules.duplicate_policy === "fail" || rules.filename_strategy === "stream_sequence") return false;
  return sha256 !== null && identity.sha256 === sha256 && identity.messageId === message.messageId;
}
