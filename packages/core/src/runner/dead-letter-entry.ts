import { isJsonObject, type JsonObject, type JsonValue } from "../envelope/json.js";
import { parseStrictJson } from "../envelope/strict-json.js";
import type { StoredDeadLetter } from "../source/dead-letter-store.js";

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
  /** The record without its payload; null when the body is not a record of ours. */
  readonly record: JsonObject | null;
  /** Body of the original; null when the record has none. */
  readonly payload: Uint8Array | null;
  readonly payloadUnavailableReason: string | null;
  /** Equal for all entries of one original and sink: readers show them once (FW-DLQ-03). */
  readonly identity: string;
}

const republished = /-r\d+$/;

function parsedRecord(data: Uint8Array): JsonObject | null {
  const value = parseStrictJson(data);
  // Any JSON may be published on the subject; ours names the original's subject and the version of the record.
  return isJsonObject(value) && Object.hasOwn(value, "subject") && Object.hasOwn(value, "dlq_version") ? value : null;
}

function text(value: JsonValue | undefined): string | null {
  return typeof value === "string" ? value : null;
}

function identityOf(stored: StoredDeadLetter, record: JsonObject | null): string {
  const id = stored.header("Nats-Msg-Id");
  if (id !== null && id !== "") return `id:${id.replace(republished, "")}`;
  const key = text(record?.["idempotency_key"]);
  return key === null ? `sequence:${stored.sequence}` : `key:${JSON.stringify([key, text(record?.["sink"])])}`;
}

/** Decodes one message of the dead-letter stream. Never throws: what is not a record of ours keeps its bytes as payload. */
export function decodeDeadLetter(stored: StoredDeadLetter): DeadLetterEntry {
  const record = parsedRecord(stored.data);
  const { payload_base64: encoded, ...rest } = record ?? {};
  const sequence = rest["stream_sequence"];
  return {
    sequence: stored.sequence,
    stream: text(rest["stream"]),
    streamSequence: typeof sequence === "number" || typeof sequence === "bigint" ? sequence : null,
    subject: text(rest["subject"]) ?? stored.header("Nats-Sinks-Original-Subject"),
    errorCode: text(rest["error_code"]),
    errorType: text(rest["error_type"]) ?? stored.header("Nats-Sinks-Error-Type"),
    error: text(rest["error"]),
    sink: text(rest["sink"]),
    time: stored.time,
    record: record === null ? null : rest,
    payload: record === null ? stored.data : typeof encoded === "string" ? new Uint8Array(Buffer.from(encoded, "base64")) : null,
    payloadUnavailableReason: text(rest["payload_unavailable_reason"]),
    identity: identityOf(stored, record),
  };
}

/** Subject of the markers that say which dead letters are dealt with (FW-DLQ-10). */
export function doneSubject(deadLetterSubject: string): string {
  return `${deadLetterSubject}.done`;
}

/** Sequence of the dead letter that a marker calls done; null when the message is not a marker. */
export function decodeDoneMarker(data: Uint8Array): number | null {
  const value = parseStrictJson(data);
  const sequence = isJsonObject(value) ? value["sequence"] : null;
  return typeof sequence === "number" && Number.isSafeInteger(sequence) ? sequence : null;
}
