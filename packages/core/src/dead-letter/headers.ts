import { type JsonObject, type JsonValue, setMember } from "../envelope/json.js";
import { encodeCanonicalJson } from "../envelope/json-encode.js";
import { parseStrictJson } from "../envelope/strict-json.js";

const prefix = "Nats-Sinks-";
const originalPrefix = "Nats-Sinks-Original-";

/** Fields of the record that are texts; the others stand in their headers as JSON. */
const textFields = [
  "subject",
  "stream",
  "stream_created_at",
  "consumer",
  "message_id",
  "priority",
  "classification",
  "idempotency_key",
  "idempotency_key_unavailable_reason",
  "payload_sha256",
  "payload_unavailable_reason",
  "headers_unavailable_reason",
  "sink",
  "error_code",
  "error_type",
  "error",
  "destination_code",
  "timestamp",
];
const jsonFields: ReadonlySet<string> = new Set([
  "dlq_version",
  "stream_sequence",
  "consumer_sequence",
  "labels",
  "redelivered",
  "delivery_count",
  "pending",
  "payload",
]);

/** `stream_sequence` is `Nats-Sinks-Stream-Sequence`. */
function headerName(field: string): string {
  const words = field.split("_").map((word) => word.charAt(0).toUpperCase() + word.slice(1));
  return `${prefix}${words.join("-")}`;
}

interface Field {
  readonly field: string;
  readonly json: boolean;
}

const fieldOf: ReadonlyMap<string, Field> = new Map(
  [...textFields, ...jsonFields.keys()].map((field): [string, Field] => [headerName(field), { field, json: jsonFields.has(field) }]),
);

/** Header that says which part of a letter a message carries, from 1: `2/5`. */
export const chunkHeader = "Nats-Sinks-Chunk";

/** The fields of a record as headers (FW-DLQ-04): texts as they are, other values as JSON, nulls left out. */
export function recordHeaders(record: Readonly<Record<string, JsonValue>>): Map<string, string> {
  const headers = new Map<string, string>();
  for (const [field, value] of Object.entries(record)) {
    if (value === null) continue;
    headers.set(headerName(field), percentEncoded(typeof value === "string" ? value : encodeCanonicalJson(value)));
  }
  return headers;
}

/** Headers of the original under names that the server does not act on. */
export function keptHeaders(original: Iterable<readonly [string, string]>): Map<string, string> {
  const headers = new Map<string, string>();
  for (const [name, value] of original) headers.set(/^nats-/i.test(name) ? `${originalPrefix}${name}` : name, value);
  return headers;
}

/** True when the headers are those of a raw dead letter. */
export function areRecordHeaders(header: (name: string) => string | null): boolean {
  return header(headerName("dlq_version")) !== null && header(headerName("subject")) !== null;
}

/** The record that headers hold, with those of the original under `headers`. */
export function decodeRecordHeaders(headers: Iterable<readonly [string, string]>): JsonObject {
  const record: Record<string, JsonValue> = {};
  const original: Record<string, JsonValue> = {};
  for (const [name, value] of headers) {
    const known = fieldOf.get(name);
    if (known !== undefined) record[known.field] = decoded(value, known.json);
    else {
      const kept = originalName(name);
      if (kept !== null) setMember(original, kept, value);
    }
  }
  return typeof record["headers_unavailable_reason"] === "string" ? record : { ...record, headers: original };
}

function originalName(name: string): string | null {
  if (!/^nats-/i.test(name)) return name;
  if (!name.startsWith(originalPrefix)) return null;
  const rest = name.slice(originalPrefix.length);
  return /^nats-/i.test(rest) ? rest : null;
}

/** Printable ASCII but `%` stays; spaces at either end would be cut off on the way. */
function percentEncoded(text: string): string {
  return text.replace(/[^ -~]|%|^ | $/gu, (character) => encodeURIComponent(character));
}

function decoded(text: string, json: boolean): JsonValue {
  const plain = percentDecoded(text);
  if (!json) return plain;
  return parseStrictJson(new TextEncoder().encode(plain)) ?? null;
}

function percentDecoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
