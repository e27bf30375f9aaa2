import { isJsonObject, type JsonObject, type JsonValue } from "../envelope/json.js";
import { parseStrictJson } from "../envelope/strict-json.js";
import type { StoredDeadLetter } from "../source/dead-letter-store.js";
import { areRecordHeaders, chunkHeader, decodeRecordHeaders } from "./headers.js";

/** One dead letter, decoded (FW-DLQ-02). Fields that the record does not hold are null. */
export interface DeadLetterEntry {
  readonly sequence: number;
  /** Stream and sequence of the original message. */
  readonly stream: string | null;
  readonly streamSequence: number | bigint | null;
  /** Subject of the original message. */
  readonly subject: string | null;
  readonly errorCode: string | null;
  readonly errorType: string | null;
  readonly error: string | null;
  readonly sink: string | null;
  readonly time: string;
  /** The record without its payload; null when the message is not a record of ours. */
  readonly record: JsonObject | null;
  /** Body of the original, or the part of it that this message carries; null when the record has none. */
  readonly payload: Uint8Array | null;
  readonly payloadUnavailableReason: string | null;
  /** Which part of the body this message carries (FW-DLQ-05); null for all of it. */
  readonly chunk: Chunk | null;
  /** Equal for all entries of one original and sink: readers show them once (FW-DLQ-03). */
  readonly identity: string;
}

/** A part of a body: the `index`th of `count`, from 1. */
export interface Chunk {
  readonly index: number;
  readonly count: number;
}

const suffixes = /(?:-c\d+\/\d+)?(?:-r\d+)?$/;

function parsedRecord(data: Uint8Array): JsonObject | null {
  const value = parseStrictJson(data);
  // Any JSON may be published on the subject; ours names the original's subject and the version of the record.
  return isJsonObject(value) && Object.hasOwn(value, "subject") && Object.hasOwn(value, "dlq_version") ? value : null;
}

function text(value: JsonValue | undefined): string | null {
  return typeof value === "string" ? value : null;
}

function identityOf(stored: StoredDeadLetter, record: JsonObject | null): string {
  const id = identityOfId(stored);
  if (id !== null) return id;
  const key = text(record?.["idempotency_key"]);
  return key === null ? `sequence:${stored.sequence}` : `key:${JSON.stringify([key, text(record?.["sink"])])}`;
}

/** The identity as far as the message id says it; null without one. */
export function identityOfId(stored: StoredDeadLetter): string | null {
  const id = stored.header("Nats-Msg-Id");
  return id === null || id === "" ? null : `id:${id.replace(suffixes, "")}`;
}

/** Decodes one message of the dead-letter stream. Never throws: what is not a record of ours keeps its bytes as payload. */
export function decodeDeadLetter(stored: StoredDeadLetter): DeadLetterEntry {
  const { record, payload } = areRecordHeaders(stored.header) ? decodeRaw(stored) : decodeJson(stored);
  const sequence = record?.["stream_sequence"];
  return {
    sequence: stored.sequence,
    stream: text(record?.["stream"]),
    streamSequence: typeof sequence === "number" || typeof sequence === "bigint" ? sequence : null,
    subject: text(record?.["subject"]) ?? stored.header("Nats-Sinks-Original-Subject"),
    errorCode: text(record?.["error_code"]),
    errorType: text(record?.["error_type"]) ?? stored.header("Nats-Sinks-Error-Type"),
    error: text(record?.["error"]),
    sink: text(record?.["sink"]),
    time: stored.time,
    record,
    payload,
    payloadUnavailableReason: text(record?.["payload_unavailable_reason"]),
    chunk: chunkOf(stored),
    identity: identityOf(stored, record),
  };
}

type Decoded = Pick<DeadLetterEntry, "record" | "payload">;

function decodeJson({ data }: StoredDeadLetter): Decoded {
  const whole = parsedRecord(data);
  if (whole === null) return { record: null, payload: data };
  const { payload_base64: encoded, ...record } = whole;
  return { record, payload: typeof encoded === "string" ? new Uint8Array(Buffer.from(encoded, "base64")) : null };
}

function decodeRaw({ headers, data }: StoredDeadLetter): Decoded {
  const record = decodeRecordHeaders(headers());
  return { record, payload: typeof record["payload_unavailable_reason"] === "string" ? null : data };
}

function chunkOf(stored: StoredDeadLetter): Chunk | null {
  const [, index, count] = /^([1-9]\d{0,5})\/([1-9]\d{0,5})$/.exec(stored.header(chunkHeader) ?? "") ?? [];
  return index === undefined || Number(index) > Number(count) ? null : { index: Number(index), count: Number(count) };
}

/** Subject of the markers that say which dead letters are dealt with (FW-DLQ-10). */
export function doneSubject(deadLetterSubject: string): string {
  return `${deadLetterSubject}.done`;
}

/** What a marker calls done. */
export interface DoneMarker {
  /** Sequence of the dead letter. */
  readonly sequence: number;
  /** Its identity, so that repeats of it are done as well; null in a marker of another maker. */
  readonly identity: string | null;
}

/** Reads a marker; null when the message is none. */
export function decodeDoneMarker(data: Uint8Array): DoneMarker | null {
  const value = parseStrictJson(data);
  const sequence = isJsonObject(value) ? value["sequence"] : null;
  if (!isJsonObject(value) || typeof sequence !== "number" || !Number.isSafeInteger(sequence)) return null;
  return { sequence, identity: text(value["identity"]) };
}
