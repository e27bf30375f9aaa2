import { createHash } from "node:crypto";
import type { Configuration } from "../config/schema.js";
import type { DeadLetterEntry } from "../dead-letter/entry.js";
import type { Envelope } from "../envelope/envelope.js";
import { envelopeFromSnapshot } from "../envelope/envelope-from-snapshot.js";
import { isJsonObject, type JsonObject, type JsonValue } from "../envelope/json.js";
import { compileMessageMetadata } from "../envelope/message-metadata.js";
import { parseRfc3339 } from "../envelope/rfc3339.js";
import type { ReplayStore } from "../source/replay-store.js";

/** A message as it was before it became a dead letter. */
export interface ReplayMessage {
  readonly subject: string;
  readonly body: Uint8Array;
  readonly headers: JsonObject;
}

/**
 * The message of an entry; body or headers that the entry lacks are read from the original stream, by sequence and
 * incarnation (FW-DLQ-10). Null when they cannot be had any more, or the entry is not a record of ours.
 */
export async function replayMessage(store: Pick<ReplayStore, "original">, entry: DeadLetterEntry): Promise<ReplayMessage | null> {
  const { record, subject, payload } = entry;
  if (record === null || subject === null) return null;
  const headers = isJsonObject(record["headers"]) ? record["headers"] : null;
  if (payload !== null && headers !== null) return { subject, body: payload, headers };
  const original = await readOriginal(store, entry, record);
  if (original === null) return null;
  return { subject, body: payload ?? original.data, headers: headers ?? Object.fromEntries(original.headers()) };
}

async function readOriginal(store: Pick<ReplayStore, "original">, entry: DeadLetterEntry, record: JsonObject) {
  const { stream, streamSequence: sequence } = entry;
  if (stream === null || typeof sequence !== "number") return null;
  const created = record["stream_created_at"];
  const original = await store.original({ stream, sequence, streamCreatedAt: typeof created === "string" ? created : null });
  if (original === null || original.subject !== entry.subject) return null;
  const digest = record["payload_sha256"];
  const same = typeof digest !== "string" || createHash("sha256").update(original.data).digest("hex") === digest;
  return same ? original : null;
}

/** Rebuilds the envelope under its original key (FW-META-09); throws `ValidationError` for a record that holds no message. */
export function replayEnvelope(entry: DeadLetterEntry, message: ReplayMessage, configuration: Configuration): Envelope {
  const record = entry.record ?? {};
  const key = record["idempotency_key"];
  return envelopeFromSnapshot(snapshotOf(record, message, entry.time, configuration.nats.domain), message.body, {
    ...(typeof key === "string" ? { idempotencyKey: key } : {}),
    account: configuration.idempotency.account,
    messageMetadata: compileMessageMetadata(configuration.message_metadata),
  });
}

function snapshotOf(record: JsonObject, { subject, body, headers }: ReplayMessage, time: string, domain: string | null): JsonObject {
  const field = (name: string): JsonValue => record[name] ?? null;
  const timestamp = field("timestamp");
  return {
    metadata_version: 1,
    subject,
    message_id: field("message_id"),
    message_metadata: { priority: field("priority"), classification: field("classification"), labels: field("labels") },
    headers,
    payload: { omitted: false, original_size_bytes: body.length },
    jetstream: {
      stream: field("stream"),
      consumer: field("consumer"),
      domain,
      stream_sequence: field("stream_sequence"),
      consumer_sequence: field("consumer_sequence"),
      redelivered: field("redelivered"),
      pending: field("pending"),
      timestamp_epoch_ns: typeof timestamp === "string" ? parseRfc3339(timestamp) : null,
      stream_created_at: field("stream_created_at"),
      delivery_count: field("delivery_count"),
    },
    // The record does not say when the message was received; it was before it became a dead letter.
    timestamps: { received_at_epoch_ns: parseRfc3339(time) ?? 0n },
  };
}
