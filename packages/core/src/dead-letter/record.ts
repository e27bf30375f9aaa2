import { createHash } from "node:crypto";
import type { Envelope } from "../envelope/envelope.js";
import type { JsonObject, JsonValue } from "../envelope/json.js";
import { isErrorKind, type SinksError } from "../error/errors.js";

/** What is known of a message that a sink will never take, apart from its headers and its body (FW-DLQ-02). */
export interface DeadLetterRecord {
  readonly fields: Readonly<Record<string, JsonValue>>;
  /** Headers of the original as the record shows them. */
  readonly headers: JsonObject;
  /** Null when the body was withheld. */
  readonly body: Uint8Array | null;
  /**
   * `Nats-Msg-Id`: equal for a repeat of the same message by the same pipeline (FW-DLQ-03). Stream and consumer are part of
   * it, because two pipelines may have sinks of one name and dead letters in one stream.
   */
  readonly id: string;
}

/** Gathers what a dead letter says; `includeError` puts the error's type and text into it. */
export function deadLetterRecord(envelope: Envelope, error: SinksError, sink: string, includeError: boolean): DeadLetterRecord {
  const key = keyOf(envelope);
  const snapshot = envelope.metadataForJsonStorage();
  const fields: Record<string, JsonValue> = {
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
  if (envelope.timestampNs !== null) fields["timestamp"] = snapshot.jetstream.timestamp;
  if (includeError) {
    fields["error_type"] = wellFormed(error.name);
    fields["error"] = wellFormed(error.message);
  }
  return {
    fields,
    headers: snapshot.headers,
    body: envelope.payloadOmitted ? null : envelope.data,
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

/** The destination's code of the failure itself, also when retries were exhausted around it. */
function destinationCode(error: SinksError): string | null {
  if (error.destinationCode !== null) return error.destinationCode;
  return isErrorKind(error.cause, "SinksError") ? error.cause.destinationCode : null;
}

/** A driver may cut its text in the middle of a character; half of one has no place in JSON or UTF-8. */
export function wellFormed<Text extends string | null>(text: Text): Text {
  return text === null ? text : (text.replace(/\p{Surrogate}/gu, "\u{fffd}") as Text);
}
