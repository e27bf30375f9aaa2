import { createHash } from "node:crypto";
import type { Envelope } from "../envelope/envelope.js";
import type { JsonValue } from "../envelope/json.js";
import { encodeCanonicalJson } from "../envelope/json-encode.js";
import { isErrorKind, type SinksError } from "../error/errors.js";

/** What the record may say, from `dead_letter` of the configuration. */
export interface DeadLetterContent {
  readonly includePayload: boolean;
  readonly includeHeaders: boolean;
  readonly includeError: boolean;
}

/** One dead letter, ready to be published. */
export interface DeadLetter {
  readonly body: Uint8Array;
  readonly headers: ReadonlyMap<string, string>;
  /**
   * `Nats-Msg-Id`: equal for a repeat of the same message by the same pipeline (FW-DLQ-03). Stream and consumer are part of
   * it, because two pipelines may have sinks of one name and dead letters in one stream.
   */
  readonly id: string;
}

const encoder = new TextEncoder();

/** Builds the record of one message that a sink will never take (FW-DLQ-02). */
export function buildDeadLetter(envelope: Envelope, error: SinksError, sink: string, content: DeadLetterContent): DeadLetter {
  const key = keyOf(envelope);
  const record = recordOf(envelope, error, sink, content, key);
  const headers = new Map([["Nats-Sinks-Original-Subject", headerValue(envelope.subject)]]);
  if (content.includeError) headers.set("Nats-Sinks-Error-Type", headerValue(error.name));
  return {
    body: encoder.encode(encodeCanonicalJson(record)),
    headers,
    id: createHash("sha256")
      .update(JSON.stringify([key ?? String(envelope.streamSequence), envelope.stream, envelope.consumer, sink]))
      .digest("hex"),
  };
}

function keyOf(envelope: Envelope): string | null {
  try {
    return envelope.idempotencyKey();
  } catch (error) {
    if (isErrorKind(error, "ValidationError")) return null;
    throw error;
  }
}

function recordOf(
  envelope: Envelope,
  error: SinksError,
  sink: string,
  content: DeadLetterContent,
  key: string | null,
): Record<string, JsonValue> {
  const snapshot = envelope.metadataForJsonStorage();
  const record: Record<string, JsonValue> = {
    dlq_version: 1,
    subject: envelope.subject,
    stream: envelope.stream,
    stream_created_at: envelope.streamCreatedAt,
    consumer: envelope.consumer,
    stream_sequence: envelope.streamSequence,
    consumer_sequence: envelope.consumerSequence,
    message_id: envelope.messageId,
    priority: envelope.priority,
    classification: envelope.classification,
    labels: [...envelope.labels],
    redelivered: envelope.redelivered,
    delivery_count: envelope.deliveryCount,
    pending: envelope.pending,
    idempotency_key: key,
    idempotency_key_unavailable_reason: key === null ? "payload_omitted" : null,
    payload: snapshot.payload as unknown as JsonValue,
    payload_sha256: envelope.payloadOmitted ? null : createHash("sha256").update(envelope.data).digest("hex"),
    sink,
    error_code: wellFormed(error.code),
    destination_code: wellFormed(destinationCode(error)),
  };
  if (envelope.timestampNs !== null) record["timestamp"] = snapshot.jetstream.timestamp;
  if (content.includeError) {
    record["error_type"] = wellFormed(error.name);
    record["error"] = wellFormed(error.message);
  }
  if (content.includeHeaders) record["headers"] = snapshot.headers as unknown as JsonValue;
  if (content.includePayload) {
    if (envelope.payloadOmitted) record["payload_unavailable_reason"] = envelope.payloadOmittedReason;
    else
      record["payload_base64"] = Buffer.from(envelope.data.buffer, envelope.data.byteOffset, envelope.data.byteLength).toString("base64");
  }
  return record;
}

/** The destination's code of the failure itself, also when retries were exhausted around it. */
function destinationCode(error: SinksError): string | null {
  if (error.destinationCode !== null) return error.destinationCode;
  return isErrorKind(error.cause, "SinksError") ? error.cause.destinationCode : null;
}

/** A subject may hold characters that a header line cannot. */
function headerValue(text: string): string {
  return encodeURI(wellFormed(text)).replaceAll("%25", "%");
}

/** A driver may cut its text in the middle of a character; half of one has no place in JSON or UTF-8. */
function wellFormed<Text extends string | null>(text: Text): Text {
  return text === null ? text : (text.replace(/\p{Surrogate}/gu, "\u{fffd}") as Text);
}
