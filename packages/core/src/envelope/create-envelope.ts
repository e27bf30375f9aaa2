import { SerializationError, ValidationError } from "../error/errors.js";
import type { Envelope } from "./envelope.js";
import { createEnvelopeOrigin } from "./envelope-origin.js";
import { type HeaderMap, normaliseHeaders } from "./headers.js";
import { hasLoneSurrogate } from "./json-encode.js";
import { describeMessage } from "./message-description.js";
import { inspectEnvelope, type KnownValues, MessageEnvelope, type MessagePosition } from "./message-envelope.js";
import { hasControl, type LabelsSetting, labelsFault, labelsOf, type MessageMetadataPolicy, trimmedOrNull } from "./message-metadata.js";

/** Headers given by code: pairs in order or an object; several values of a name are joined as at ingestion. */
export type GivenHeaders = Iterable<readonly [string, string | readonly string[]]> | Readonly<Record<string, string | readonly string[]>>;

/** What code states about a message; what is absent is unknown or derived from the headers, as at ingestion. */
export interface EnvelopeFields {
  readonly subject: string;
  /** Body bytes, shared, not copied; by default empty. */
  readonly data?: Uint8Array;
  readonly headers?: GivenHeaders;
  /** Receipt time, ns since the Unix epoch. */
  readonly receivedAtNs: bigint;
  readonly reply?: string | null;
  readonly stream?: string | null;
  readonly consumer?: string | null;
  readonly domain?: string | null;
  readonly account?: string | null;
  readonly streamCreatedAt?: string | null;
  readonly streamSequence?: bigint | null;
  readonly consumerSequence?: bigint | null;
  readonly timestampNs?: bigint | null;
  readonly deliveryCount?: number | null;
  readonly pending?: number | null;
  readonly messageId?: string | null;
  readonly priority?: string | null;
  readonly classification?: string | null;
  readonly labels?: LabelsSetting;
  /** Compiled section `message_metadata`; by default the headers' usual names and no rules. */
  readonly messageMetadata?: MessageMetadataPolicy;
}

type Mutable<Type> = { -readonly [Key in keyof Type]: Type[Key] };

/**
 * Builds an envelope from code with the checks of ingestion (FW-ENV-13). Throws `ValidationError` for a value of a wrong kind
 * or one that ingestion would reject, `SerializationError` for headers that no header block can hold.
 */
export function createEnvelope(fields: EnvelopeFields): Envelope {
  const { subject, data = new Uint8Array(0), receivedAtNs } = fields;
  checkSubject(subject);
  if (!(data instanceof Uint8Array)) throw new ValidationError("data must be a Uint8Array");
  if (typeof receivedAtNs !== "bigint") throw new ValidationError("receivedAtNs must be a bigint");
  const origin = createEnvelopeOrigin({
    stream: text(fields.stream, "stream"),
    consumer: text(fields.consumer, "consumer"),
    domain: text(fields.domain, "domain"),
    account: text(fields.account, "account"),
    streamCreatedAt: text(fields.streamCreatedAt, "streamCreatedAt"),
    messageMetadata: fields.messageMetadata,
  });
  const position: MessagePosition = Object.freeze({
    streamSequence: natural(fields.streamSequence, "streamSequence"),
    consumerSequence: natural(fields.consumerSequence, "consumerSequence"),
    timestampNs: bigintOrNull(fields.timestampNs, "timestampNs"),
    deliveryCount: count(fields.deliveryCount, "deliveryCount"),
    pending: count(fields.pending, "pending"),
  });
  const headers = readGiven(fields.headers, () => describeMessage(subject, origin.stream, position.streamSequence));
  const reply = text(fields.reply, "reply");
  const readHeaders = headers === null ? null : () => headers;
  const envelope = new MessageEnvelope({ subject, data, reply, receivedAtNs, readHeaders, origin, position, known: knownValues(fields) });
  const error = inspectEnvelope(envelope);
  if (error !== null) throw error;
  return envelope;
}

function checkSubject(subject: unknown): void {
  if (typeof subject !== "string" || subject === "") throw new ValidationError("subject must be a text that is not empty");
  if (/[\0\t\n\f\r ]/.test(subject)) throw new ValidationError("subject must not hold white space");
  if (hasLoneSurrogate(subject)) throw new ValidationError("subject must not hold a lone surrogate");
}

function knownValues(fields: EnvelopeFields): KnownValues {
  const known: Mutable<KnownValues> = {};
  if (fields.messageId !== undefined) known.messageId = text(fields.messageId, "messageId") || null;
  if (fields.priority !== undefined) known.priority = plainText(fields.priority, "priority");
  if (fields.classification !== undefined) known.classification = plainText(fields.classification, "classification");
  if (fields.labels !== undefined) known.labels = labelList(fields.labels);
  return Object.freeze(known);
}

function text(value: unknown, name: string): string | null {
  if (value === undefined || value === null) return null;
  if (typeof value !== "string") throw new ValidationError(`${name} must be a text`);
  if (hasLoneSurrogate(value)) throw new ValidationError(`${name} must not hold a lone surrogate`);
  return value;
}

function plainText(value: unknown, name: string): string | null {
  const given = text(value, name);
  if (given === null) return null;
  if (hasControl(given)) throw new ValidationError(`${name} holds a control character`);
  return trimmedOrNull(given);
}

function labelList(labels: LabelsSetting): readonly string[] {
  const list: readonly unknown[] = Array.isArray(labels) ? labels : [labels];
  for (const label of list) if (text(label, "a label") === null) throw new ValidationError("a label must be a text");
  const fault = labelsFault(labels);
  if (fault !== null) throw new ValidationError(`labels ${fault}`);
  return labelsOf(labels);
}

function bigintOrNull(value: unknown, name: string): bigint | null {
  if (value === undefined || value === null) return null;
  if (typeof value !== "bigint") throw new ValidationError(`${name} must be a bigint`);
  return value;
}

function natural(value: unknown, name: string): bigint | null {
  const given = bigintOrNull(value, name);
  return given === null || given < 0n ? null : given;
}

function count(value: unknown, name: string): number | null {
  if (value === undefined || value === null) return null;
  if (typeof value !== "number" || !Number.isSafeInteger(value)) throw new ValidationError(`${name} must be an integer`);
  return value < 0 ? null : value;
}

function readGiven(given: GivenHeaders | undefined, place: () => string): HeaderMap | null {
  if (given === undefined) return null;
  try {
    return normaliseHeaders(singleHeaders(given));
  } catch (cause) {
    if (!(cause instanceof SerializationError)) throw cause;
    throw new SerializationError(`${cause.message} (${place()})`, { code: "headers_malformed", cause });
  }
}

function* singleHeaders(given: GivenHeaders): Generator<[string, string]> {
  const pairs: Iterable<readonly [string, string | readonly string[]]> = Symbol.iterator in given ? given : Object.entries(given);
  for (const [name, values] of pairs) {
    if (typeof values !== "string" && !Array.isArray(values)) throw new ValidationError("a header must be a text or a list of texts");
    for (const value of typeof values === "string" ? [values] : values) {
      if (typeof name !== "string" || typeof value !== "string") throw new ValidationError("a header must be a text");
      if (hasLoneSurrogate(value)) throw new ValidationError("a header must not hold a lone surrogate");
      yield [name, value];
    }
  }
}
