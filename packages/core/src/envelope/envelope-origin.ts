import { ValidationError } from "../error/errors.js";
import { jetStreamKeyPrefix } from "./idempotency-key.js";
import { compileMessageMetadata, defaultMessageMetadataSection, type MessageMetadataPolicy } from "./message-metadata.js";
import { type OriginText, originText } from "./metadata-text.js";
import { parseRfc3339 } from "./rfc3339.js";

/** What all messages of one stream incarnation have in common. */
export interface EnvelopeOriginFields {
  readonly stream: string | null;
  readonly consumer: string | null;
  /** From configuration only, never from the ack subject (FW-ENV-06). */
  readonly domain: string | null;
  /** From configuration only, never from the ack subject (FW-ENV-06). */
  readonly account: string | null;
  /** RFC 3339 creation time as the server gave it; null when it is unknown and the configuration allows that. */
  readonly streamCreatedAt: string | null;
  /** By default the section with nothing configured. */
  readonly messageMetadata?: MessageMetadataPolicy | undefined;
}

/** The frozen part that envelopes of one stream incarnation share. */
export interface EnvelopeOrigin extends Required<EnvelopeOriginFields> {
  readonly messageMetadata: MessageMetadataPolicy;
  /** Creation time in ns since the Unix epoch. */
  readonly streamCreatedNs: bigint | null;
  /** @internal Start of every key with a sequence; null without a stream. */
  readonly keyPrefix: string | null;
  /** @internal What all snapshots of this origin have in common, as JSON text. */
  readonly metadataText: OriginText;
}

/** Builds the shared part once per stream incarnation; throws `ValidationError` for a creation time that is no RFC 3339 time. */
export function createEnvelopeOrigin(fields: EnvelopeOriginFields): EnvelopeOrigin {
  const { stream, consumer, domain, account, streamCreatedAt } = fields;
  const streamCreatedNs = streamCreatedAt === null ? null : parseRfc3339(streamCreatedAt);
  if (streamCreatedAt !== null && streamCreatedNs === null) throw new ValidationError("streamCreatedAt must be an RFC 3339 time");
  const keyPrefix = stream === null ? null : jetStreamKeyPrefix(account, domain, stream, streamCreatedNs);
  const messageMetadata = fields.messageMetadata ?? compileMessageMetadata(defaultMessageMetadataSection);
  return Object.freeze({
    stream,
    consumer,
    domain,
    account,
    streamCreatedAt,
    messageMetadata,
    streamCreatedNs,
    keyPrefix,
    metadataText: originText(fields),
  });
}
