import { ValidationError } from "../error/errors.js";
import type { Envelope } from "./envelope.js";
import { createEnvelopeOrigin } from "./envelope-origin.js";
import { normaliseHeaders } from "./headers.js";
import { isJsonObject, type JsonObject, type JsonValue } from "./json.js";
import { MessageEnvelope } from "./message-envelope.js";
import type { MessageMetadataPolicy } from "./message-metadata.js";
import type { MetadataSnapshot } from "./metadata-snapshot.js";

/** What a stored record knows of a message besides its snapshot and its body. */
export interface RecordedValues {
  readonly idempotencyKey?: string;
  readonly custody?: JsonObject | null;
  /** Account of the keys, from configuration; a snapshot does not hold it. */
  readonly account?: string | null;
  readonly messageMetadata?: MessageMetadataPolicy;
}

/**
 * Rebuilds the envelope of a stored record (FW-META-09): the same fields, also where the configuration has changed since.
 * `body` is null for a body that was withheld. Throws `ValidationError` that names the path of what is wrong.
 */
export function envelopeFromSnapshot(
  snapshot: MetadataSnapshot | JsonObject,
  body: Uint8Array | null,
  recorded: RecordedValues = {},
): Envelope {
  const root = new Section(snapshot as JsonObject, "");
  if (root.integer("metadata_version") !== 1n) throw new ValidationError("metadata_version must be 1");
  const subject = root.text("subject");
  if (subject === null) throw new ValidationError("subject must be a text");
  const fields = root.section("message_metadata");
  const payload = root.section("payload");
  const jetStream = root.section("jetstream");
  const receivedAtNs = root.section("timestamps").integer("received_at_epoch_ns");
  if (receivedAtNs === null) throw new ValidationError("timestamps.received_at_epoch_ns must be an integer");
  const payloadOmitted = payload.flag("omitted") ?? body === null;
  if (payloadOmitted ? body !== null && body.length > 0 : body === null) {
    throw new ValidationError(`payload.omitted is ${payloadOmitted} and the body is ${body === null ? "missing" : "there"}`);
  }
  const headers = normaliseHeaders(root.section("headers").texts());
  const data = body ?? new Uint8Array(0);
  return new MessageEnvelope({
    subject,
    data,
    reply: root.text("reply"),
    receivedAtNs,
    readHeaders: headers.size === 0 ? null : () => headers,
    origin: createEnvelopeOrigin({
      stream: jetStream.text("stream"),
      consumer: jetStream.text("consumer"),
      domain: jetStream.text("domain"),
      account: recorded.account ?? null,
      streamCreatedAt: jetStream.text("stream_created_at"),
      messageMetadata: recorded.messageMetadata,
    }),
    position: Object.freeze({
      streamSequence: jetStream.integer("stream_sequence"),
      consumerSequence: jetStream.integer("consumer_sequence"),
      timestampNs: jetStream.integer("timestamp_epoch_ns"),
      deliveryCount: jetStream.count("delivery_count"),
      pending: jetStream.count("pending"),
    }),
    known: Object.freeze({
      messageId: root.text("message_id"),
      priority: fields.text("priority"),
      classification: fields.text("classification"),
      labels: fields.list("labels"),
      missionMetadata: root.object("mission_metadata"),
      securityLabels: root.object("security_labels"),
      custody: recorded.custody ?? null,
      redelivered: jetStream.flag("redelivered"),
      payloadOmitted,
      originalPayloadSizeBytes: payload.count("original_size_bytes") ?? data.length,
      ...(recorded.idempotencyKey === undefined ? {} : { idempotencyKey: recorded.idempotencyKey }),
    }),
  });
}

/** One object of a snapshot; a member that is missing counts as null, one of another kind is an error with its path. */
class Section {
  readonly #members: JsonObject;
  readonly #path: string;

  constructor(members: JsonObject, path: string) {
    this.#members = members;
    this.#path = path;
  }

  section(name: string): Section {
    return new Section(this.object(name) ?? {}, `${this.#path}${name}.`);
  }

  object(name: string): JsonObject | null {
    const value = this.#member(name);
    if (value !== null && !isJsonObject(value)) throw this.#fault(name, "an object");
    return value;
  }

  text(name: string): string | null {
    const value = this.#member(name);
    if (value !== null && typeof value !== "string") throw this.#fault(name, "a text");
    return value;
  }

  flag(name: string): boolean | null {
    const value = this.#member(name);
    if (value !== null && typeof value !== "boolean") throw this.#fault(name, "true or false");
    return value;
  }

  integer(name: string): bigint | null {
    const value = this.#member(name);
    if (value === null || typeof value === "bigint") return value;
    if (typeof value !== "number" || !Number.isSafeInteger(value)) throw this.#fault(name, "an integer");
    return BigInt(value);
  }

  count(name: string): number | null {
    const value = this.integer(name);
    return value === null ? null : Number(value);
  }

  list(name: string): readonly string[] {
    const value = this.#member(name) ?? [];
    if (!Array.isArray(value) || value.some((item) => typeof item !== "string")) throw this.#fault(name, "a list of texts");
    return Object.freeze([...(value as readonly string[])]);
  }

  texts(): readonly (readonly [string, string])[] {
    return Object.keys(this.#members).map((name) => {
      const value = this.text(name);
      if (value === null) throw this.#fault(name, "a text");
      return [name, value];
    });
  }

  #member(name: string): JsonValue {
    return (Object.hasOwn(this.#members, name) ? this.#members[name] : null) ?? null;
  }

  #fault(name: string, kind: string): ValidationError {
    return new ValidationError(`${this.#path}${name} must be ${kind}`);
  }
}
