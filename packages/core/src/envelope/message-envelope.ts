import { SerializationError, ValidationError } from "../error/errors.js";
import { Body } from "./body.js";
import type { Envelope } from "./envelope.js";
import type { EnvelopeOrigin } from "./envelope-origin.js";
import { type HeaderMap, noHeaders } from "./headers.js";
import { contentKey, messageIdKey } from "./idempotency-key.js";
import type { JsonObject, JsonValue } from "./json.js";
import { describeMessage } from "./message-description.js";
import type { MessageMetadata } from "./message-metadata.js";
import { buildSnapshot, type MetadataSnapshot, withStorageTime } from "./metadata-snapshot.js";
import { MetadataText } from "./metadata-text.js";
import { type NormalizedPayload, normalisePayload, omittedPayload, type PayloadMode } from "./payload.js";

/** Where a message stands in its stream; a source computes it at the first request. Unknown and negative values are null. */
export interface MessagePosition {
  readonly streamSequence: bigint | null;
  readonly consumerSequence: bigint | null;
  readonly timestampNs: bigint | null;
  readonly deliveryCount: number | null;
  readonly pending: number | null;
}

/** Values that are given instead of derived: by code that builds an envelope, or by a stored record. */
export interface KnownValues {
  readonly messageId?: string | null;
  readonly priority?: string | null;
  readonly classification?: string | null;
  readonly labels?: readonly string[];
  readonly missionMetadata?: JsonObject | null;
  readonly securityLabels?: JsonObject | null;
  readonly custody?: JsonObject | null;
  readonly redelivered?: boolean | null;
  readonly payloadOmitted?: boolean;
  readonly originalPayloadSizeBytes?: number;
  readonly idempotencyKey?: string;
}

/** What ingestion knows of a message. The object is kept, not copied: do not change it afterwards. */
export interface EnvelopeInput {
  readonly subject: string;
  readonly data: Uint8Array;
  readonly reply: string | null;
  readonly receivedAtNs: bigint;
  /** Reads the headers at the first request and may throw; null when the message has none. */
  readonly readHeaders: (() => HeaderMap) | null;
  readonly origin: EnvelopeOrigin;
  /** Null outside JetStream. */
  readonly position: MessagePosition | null;
  readonly known: KnownValues | null;
}

/** In lower case, best first. */
const messageIdHeaders = ["nats-msg-id", "nats-message-id", "message-id"] as const;

/** Everything an envelope found out at somebody's request. */
class Memo {
  headers: HeaderMap | undefined;
  headersError: SerializationError | null = null;
  metadata: MessageMetadata | undefined;
  messageId: string | null | undefined;
  declaredSize: DeclaredSize | undefined;
  body: Body | undefined;
  key: string | undefined;
  payloads: Partial<Record<PayloadMode, NormalizedPayload>> | undefined;
  snapshot: MetadataSnapshot | undefined;
  metadataText: MetadataText | undefined;
}

/** What the header `Nats-Msg-Size` says. */
interface DeclaredSize {
  readonly bytes: number | null;
  readonly malformed: boolean;
}

const undeclared: DeclaredSize = Object.freeze({ bytes: null, malformed: false });

/**
 * The one implementation of `Envelope`. It is built for every message and asked for little, so it only keeps its input; what
 * is derived is computed when asked for, once. Private fields on a frozen object without own properties make it immutable
 * from outside and keep freezing cheap.
 */
export class MessageEnvelope implements Envelope {
  readonly #input: EnvelopeInput;
  #memo: Memo | null = null;

  constructor(input: EnvelopeInput) {
    this.#input = input;
    Object.freeze(this);
  }

  get subject(): string {
    return this.#input.subject;
  }

  get data(): Uint8Array {
    return this.#input.data;
  }

  get headers(): HeaderMap {
    return this.#input.readHeaders === null ? noHeaders : this.#readHeaders(this.#input.readHeaders);
  }

  get stream(): string | null {
    return this.#input.origin.stream;
  }

  get consumer(): string | null {
    return this.#input.origin.consumer;
  }

  get domain(): string | null {
    return this.#input.origin.domain;
  }

  get account(): string | null {
    return this.#input.origin.account;
  }

  get streamCreatedAt(): string | null {
    return this.#input.origin.streamCreatedAt;
  }

  get streamSequence(): bigint | null {
    return this.#input.position === null ? null : this.#input.position.streamSequence;
  }

  get consumerSequence(): bigint | null {
    return this.#input.position === null ? null : this.#input.position.consumerSequence;
  }

  get timestampNs(): bigint | null {
    return this.#input.position === null ? null : this.#input.position.timestampNs;
  }

  get receivedAtNs(): bigint {
    return this.#input.receivedAtNs;
  }

  get messageId(): string | null {
    const known = this.#input.known?.messageId;
    if (known !== undefined) return known;
    if (this.#input.readHeaders === null) return null;
    const memo = this.#kept();
    if (memo.messageId === undefined) memo.messageId = messageIdOf(this.headers);
    return memo.messageId;
  }

  get deliveryCount(): number | null {
    return this.#input.position === null ? null : this.#input.position.deliveryCount;
  }

  get redelivered(): boolean | null {
    const known = this.#input.known?.redelivered;
    if (known !== undefined) return known;
    const count = this.deliveryCount;
    return count === null || count < 1 ? null : count > 1;
  }

  get pending(): number | null {
    return this.#input.position === null ? null : this.#input.position.pending;
  }

  get priority(): string | null {
    const known = this.#input.known?.priority;
    return known === undefined ? this.#metadata.priority : known;
  }

  get classification(): string | null {
    const known = this.#input.known?.classification;
    return known === undefined ? this.#metadata.classification : known;
  }

  get labels(): readonly string[] {
    return this.#input.known?.labels ?? this.#metadata.labels;
  }

  get missionMetadata(): JsonObject | null {
    return this.#input.known?.missionMetadata ?? null;
  }

  get securityLabels(): JsonObject | null {
    return this.#input.known?.securityLabels ?? null;
  }

  get custody(): JsonObject | null {
    return this.#input.known?.custody ?? null;
  }

  get reply(): string | null {
    return this.#input.reply;
  }

  get payloadPresent(): boolean {
    return !this.payloadOmitted;
  }

  get payloadOmitted(): boolean {
    if (this.#input.data.length > 0) return false;
    return this.#input.known?.payloadOmitted ?? (this.#declaredSize.bytes ?? 0) > 0;
  }

  get payloadOmittedReason(): "headers_only" | null {
    return this.payloadOmitted ? "headers_only" : null;
  }

  get originalPayloadSizeBytes(): number {
    return this.#input.known?.originalPayloadSizeBytes ?? this.#declaredSize.bytes ?? this.#input.data.length;
  }

  get payloadSizeHeaderMalformed(): boolean {
    return this.#declaredSize.malformed;
  }

  text(): string | null {
    return this.payloadOmitted ? null : this.#body.text;
  }

  json(): JsonValue | undefined {
    return this.payloadOmitted ? undefined : this.#body.value;
  }

  idempotencyKey(): string {
    const memo = this.#kept();
    memo.key ??= this.#input.known?.idempotencyKey ?? this.#makeKey();
    return memo.key;
  }

  payloadForJsonStorage(mode: PayloadMode = "json_or_envelope"): NormalizedPayload {
    if (this.payloadOmitted) return omittedPayload;
    const memo = this.#kept();
    memo.payloads ??= {};
    memo.payloads[mode] ??= normalisePayload(this.#body, mode, () => this.#description);
    return memo.payloads[mode];
  }

  metadataForJsonStorage(storedAtNs?: bigint): MetadataSnapshot {
    const memo = this.#kept();
    memo.snapshot ??= buildSnapshot(this);
    return storedAtNs === undefined ? memo.snapshot : withStorageTime(memo.snapshot, storedAtNs);
  }

  metadataJsonText(storedAtNs?: bigint): string {
    const memo = this.#kept();
    memo.metadataText ??= new MetadataText(this, this.#input.origin.metadataText);
    return memo.metadataText.at(storedAtNs);
  }

  get #description(): string {
    return describeMessage(this.subject, this.stream, this.streamSequence);
  }

  get #body(): Body {
    const memo = this.#kept();
    memo.body ??= new Body(this.#input.data);
    return memo.body;
  }

  get #metadata(): MessageMetadata {
    const memo = this.#kept();
    memo.metadata ??= this.#input.origin.messageMetadata.resolve(this.subject, this.#input.readHeaders === null ? null : this.headers);
    return memo.metadata;
  }

  get #declaredSize(): DeclaredSize {
    if (this.#input.readHeaders === null) return undeclared;
    const memo = this.#kept();
    memo.declaredSize ??= declaredSizeOf(this.headers);
    return memo.declaredSize;
  }

  #kept(): Memo {
    this.#memo ??= new Memo();
    return this.#memo;
  }

  /** A block that cannot be parsed gives no headers here and an error to `inspectEnvelope`, so that a dead letter can be made. */
  #readHeaders(read: () => HeaderMap): HeaderMap {
    const memo = this.#kept();
    if (memo.headers === undefined) {
      try {
        memo.headers = read();
      } catch (cause) {
        memo.headers = noHeaders;
        memo.headersError = new SerializationError(`the headers cannot be parsed (${this.#description})`, {
          code: "headers_malformed",
          cause,
        });
      }
    }
    return memo.headers;
  }

  #makeKey(): string {
    const sequence = this.streamSequence;
    const { keyPrefix, stream } = this.#input.origin;
    if (keyPrefix !== null && sequence !== null) return `${keyPrefix}${sequence}`;
    const id = this.messageId;
    if (id !== null) return messageIdKey(stream, id);
    if (this.payloadOmitted) throw new ValidationError(`no sequence, no id and no body to make a key of (${this.#description})`);
    return contentKey(this.subject, this.#body.sha256);
  }

  /** @internal See `jsonForReading`. */
  static readJson(envelope: Envelope): JsonValue | undefined {
    if (!(#input in envelope)) return envelope.json();
    return envelope.payloadOmitted ? undefined : envelope.#body.unfrozenValue;
  }

  /** @internal See `inspectEnvelope`. */
  static inspect(envelope: Envelope): ValidationError | SerializationError | null {
    if (!(#input in envelope) || envelope.#input.readHeaders === null) return null;
    envelope.#readHeaders(envelope.#input.readHeaders);
    const error = envelope.#kept().headersError;
    if (error !== null) return error;
    const { refused } = envelope.#metadata;
    if (refused === null) return null;
    return new ValidationError(`the publisher's ${refused} holds a control character (${envelope.#description})`);
  }

  static {
    Object.freeze(MessageEnvelope.prototype);
    Object.freeze(MessageEnvelope);
  }
}

/**
 * The error that rejects a message at ingestion, or null: headers that cannot be parsed, or a publisher's priority,
 * classification or labels with control characters. It reads headers only where there are some, and never throws.
 */
export function inspectEnvelope(envelope: Envelope): ValidationError | SerializationError | null {
  return MessageEnvelope.inspect(envelope);
}

/** What `envelope.json()` gives, perhaps not frozen: freezing costs as much as parsing. Whoever hands a part on freezes it. */
export function jsonForReading(envelope: Envelope): JsonValue | undefined {
  return MessageEnvelope.readJson(envelope);
}

function messageIdOf(headers: HeaderMap): string | null {
  for (const name of messageIdHeaders) {
    const value = headers.getFolded(name);
    if (value !== undefined && value !== "") return value;
  }
  return null;
}

function declaredSizeOf(headers: HeaderMap): DeclaredSize {
  const text = headers.getFolded("nats-msg-size");
  if (text === undefined) return undeclared;
  const bytes = /^[0-9]+$/.test(text) ? Number(text) : Number.NaN;
  return Number.isSafeInteger(bytes) ? { bytes, malformed: false } : { bytes: null, malformed: true };
}
