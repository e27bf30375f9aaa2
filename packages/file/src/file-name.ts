import { digestKey, type Envelope, encodeKeyPart } from "@sinks/core";
import type { FileOptions } from "./options.js";

/** Where a message's file goes inside its folder. */
export interface FileName {
  readonly name: string;
  /**
   * The name to use when `name` holds another key. Only sequence names have one: they keep the stream's letters as they
   * are, so that streams that differ in case, domain or account could meet (FW-FILE-04).
   */
  readonly spare: (() => string) | null;
}

/** A plain part is never longer than this, a part with a digest always is: the two can never be equal. */
const plainLength = 64;
const readableLength = 40;
const plainPart = /^[a-z0-9_-]+(?:\.[a-z0-9_-]+)*$/;
const plainStream = /^[A-Za-z0-9_-]+$/;
/** Keys with a sequence (FW-ENV-06); the group is the creation time of the stream. */
const sequenceKey = /^js:1:[^:]*:[^:]*:[^:]*:(-?[0-9]*):[0-9]+$/;
/** Names that Windows keeps for devices, with any ending. */
const deviceName = /^(?:con|prn|aux|nul|com[0-9]|lpt[0-9])(?:\.|$)/i;

/**
 * A text as one part of a path: itself when it is short and plain, else its readable rest and the full digest of the text.
 * Different texts give different parts, also on file systems that fold case or normalise letters.
 */
export function pathPart(text: string): string {
  return text.length <= plainLength && plainPart.test(text) && !deviceName.test(text)
    ? text
    : `${readable(text)}-${digestKey(encodeKeyPart(text))}`;
}

/** What remains of a text for people: lower case, `_` for everything that is not plain. */
function readable(text: string): string {
  const kept = text
    .slice(0, readableLength)
    .replace(/[A-Z]/g, (letter) => letter.toLowerCase())
    .replace(/[^a-z0-9_.-]/g, "_")
    .replace(/\.{2,}/g, "_")
    .replace(/^[.-]+|\.+$/g, "_");
  return kept === "" ? "_" : kept;
}

/** Folder of a subject under `partition_by_subject`: one folder for the whole subject, whatever its length. */
export function subjectFolder(subject: string): string {
  return pathPart(subject);
}

/** End of a message file's name. */
export function fileExtension(options: FileOptions): string {
  return options.compression === "gzip" && !options.extension.endsWith(".gz") ? `${options.extension}.gz` : options.extension;
}

/**
 * Name of a message's file without its extension (FW-FILE-04). `sha256` is the digest of its payload, null when the body
 * was withheld. Messages that lack what the strategy asks for are named by the digest of their key.
 */
export function fileName(message: Envelope, strategy: FileOptions["filename_strategy"], sha256: string | null): FileName {
  switch (strategy) {
    case "message_id":
      return only(message.messageId === null ? keyName(message) : pathPart(message.messageId));
    case "payload_sha256":
      return only(sha256 === null ? keyName(message) : sha256);
    case "stream_sequence":
      return sequenceName(message);
  }
}

function only(name: string): FileName {
  return { name, spare: null };
}

/** Longer than a plain part, and the digest is of a key, never of an id: it meets no other name. */
function keyName(message: Envelope): string {
  return `key-${digestKey(message.idempotencyKey())}`;
}

function sequenceName(message: Envelope): FileName {
  const { stream, streamSequence } = message;
  if (stream === null || streamSequence === null) return only(keyName(message));
  const key = message.idempotencyKey();
  const created = sequenceKey.exec(key)?.[1];
  if (created === undefined) return only(keyName(message));
  const tail = `${created === "" ? "0" : created}-${paddedSequence(streamSequence)}`;
  // Seldom needed, and a digest for each message is not free.
  const spare = () => `${readable(stream)}-${tail}-${digestKey(key)}`;
  const plain = stream.length <= plainLength && plainStream.test(stream) && !deviceName.test(stream);
  return plain ? { name: `${stream}-${tail}`, spare } : only(spare());
}

/** A sequence in the 20 digits that the largest one needs, so that names sort like sequences. */
export function paddedSequence(sequence: bigint | null): string {
  return (sequence ?? 0n).toString().padStart(20, "0");
}

/** A stream's name at the start of a segment's name; segments are found by key, so different streams may look alike here. */
export function streamLabel(stream: string | null): string {
  if (stream === null) return "no-stream";
  return stream.length <= plainLength && plainStream.test(stream) && !deviceName.test(stream) ? stream : readable(stream);
}
