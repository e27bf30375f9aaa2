import { type Envelope, encodeJson, quoteJson } from "@sinks/core";
import type { FileOptions } from "./options.js";

const plainKey = /^[A-Za-z0-9_.%:-]+$/;

/** What shapes a record. */
export type RecordOptions = Pick<FileOptions, "payload_mode" | "include_metadata">;

/** Start of every record this sink writes, up to the idempotency key, which stands first so that readers find it without parsing. */
const recordStart = '{"schema":"nats_sinks.file.message.v1","schema_version":1,"idempotency_key":';

/**
 * The record of a message (FW-FILE-08) as one line of JSON text. The payload's own text is spliced in, so its numbers keep
 * their spelling (FW-PAY-06). Throws `SerializationError` where the payload mode refuses the body, and `ValidationError`
 * where the message has no key.
 */
export function recordText(message: Envelope, options: RecordOptions, storedAtNs: bigint): string {
  const payload = message.payloadForJsonStorage(options.payload_mode);
  const { labels } = message;
  const text =
    `${recordStart}${quoteJson(message.idempotencyKey())},"subject":${quoteJson(message.subject)},"stream":${quoted(message.stream)},` +
    `"stream_sequence":${message.streamSequence ?? "null"},"consumer":${quoted(message.consumer)},` +
    `"consumer_sequence":${message.consumerSequence ?? "null"},"message_id":${quoted(message.messageId)},` +
    `"priority":${quoted(message.priority)},"classification":${quoted(message.classification)},` +
    `"labels":${labels.length === 0 ? "null" : quoteJson(labels.join(";"))},"labels_list":${labels.length === 0 ? "[]" : encodeJson(labels)},` +
    `"mission_metadata":${encoded(message.missionMetadata)},"security_labels":${encoded(message.securityLabels)},` +
    `"custody":${encoded(message.custody)},"payload":${payload.lineText},"payload_info":{"original_format":"${payload.originalFormat}",` +
    `"wrapped":${payload.wrapped},"sha256":${payload.sha256 === null ? "null" : `"${payload.sha256}"`},"size_bytes":${payload.sizeBytes}}`;
  return options.include_metadata ? `${text},"metadata":${message.metadataJsonText(storedAtNs)}}` : `${text}}`;
}

function quoted(text: string | null): string {
  return text === null ? "null" : quoteJson(text);
}

function encoded(value: Parameters<typeof encodeJson>[0]): string {
  return value === null ? "null" : encodeJson(value);
}

/** The facts of a stored record that decide whether it is a given message. */
export interface StoredIdentity {
  readonly idempotencyKey: string | null;
  readonly messageId: string | null;
  readonly sha256: string | null;
}

/** Reads the identity out of a stored record; null when the text is no record of this sink. */
export function storedIdentity(text: string): StoredIdentity | null {
  let record: unknown;
  try {
    record = JSON.parse(text);
  } catch {
    return null;
  }
  if (typeof record !== "object" || record === null || !("schema" in record) || record.schema !== "nats_sinks.file.message.v1") return null;
  const { idempotency_key: key, message_id: messageId, payload_info: info } = record as Record<string, unknown>;
  return {
    idempotencyKey: textOrNull(key),
    messageId: textOrNull(messageId),
    sha256: typeof info === "object" && info !== null && "sha256" in info ? textOrNull(info.sha256) : null,
  };
}

function textOrNull(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}

/** More than any key that an envelope makes from a stream's name. */
const keyReach = recordStart.length + 2048;

/** Reads the key of one line of a segment; null when the line is no record. */
export function keyOfLine(line: Buffer): string | null {
  const head = line.toString("latin1", 0, keyReach);
  const end = head.startsWith(recordStart) ? head.indexOf('"', recordStart.length + 1) : -1;
  const key = head.slice(recordStart.length + 1, Math.max(end, 0));
  // The rule for keys that an envelope makes; others are read by parsing the line.
  if (plainKey.test(key)) return key;
  return storedIdentity(line.toString("utf8"))?.idempotencyKey ?? null;
}
