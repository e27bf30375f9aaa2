import type { Envelope } from "./envelope.js";
import type { HeaderMap } from "./headers.js";
import { type JsonObject, setMember } from "./json.js";
import { formatRfc3339, parseRfc3339 } from "./rfc3339.js";

/** Where the creation time of a message comes from (FW-META-02). */
export type CreationTimeSource = "nats_time_stamp" | "jetstream_timestamp" | "missing";

/** Presence and size of the body, as it stands in snapshots and dead letters. */
export interface PayloadFacts {
  readonly present: boolean;
  readonly omitted: boolean;
  readonly omitted_reason: string | null;
  readonly original_size_bytes: number;
  readonly delivered_size_bytes: number;
  readonly nats_msg_size_header: string | null;
  readonly nats_msg_size_header_malformed: boolean;
}

/** The metadata document of one message (FW-META-01), frozen; `*_epoch_ns` and sequences are exact. */
export interface MetadataSnapshot {
  readonly metadata_version: 1;
  readonly subject: string;
  readonly reply: string | null;
  readonly message_id: string | null;
  readonly message_metadata: {
    readonly priority: string | null;
    readonly classification: string | null;
    readonly labels: readonly string[];
  };
  readonly mission_metadata: JsonObject | null;
  readonly security_labels: JsonObject | null;
  readonly headers: Readonly<Record<string, string>>;
  readonly payload: PayloadFacts;
  readonly nats: {
    readonly reserved_headers: Readonly<Record<string, string>>;
    readonly reserved_headers_present: readonly string[];
  };
  readonly jetstream: {
    readonly stream: string | null;
    readonly consumer: string | null;
    readonly domain: string | null;
    readonly stream_sequence: bigint | null;
    readonly consumer_sequence: bigint | null;
    readonly redelivered: boolean | null;
    readonly pending: number | null;
    readonly timestamp: string | null;
    readonly timestamp_epoch_ns: bigint | null;
    readonly stream_created_at: string | null;
    readonly delivery_count: number | null;
  };
  readonly timestamps: {
    readonly message_created_at_epoch_ns: bigint | null;
    readonly message_created_at_source: CreationTimeSource;
    readonly message_created_at_header_malformed: boolean;
    readonly nats_time_stamp: string | null;
    readonly jetstream_timestamp_epoch_ns: bigint | null;
    readonly received_at: string | null;
    readonly received_at_epoch_ns: bigint;
    readonly stored_at: string | null;
    readonly stored_at_epoch_ns: bigint | null;
  };
  readonly freshness: {
    readonly event_age_at_receive_seconds: number | null;
    readonly event_age_at_store_seconds: number | null;
    readonly source_clock_skew_seconds: number | null;
    readonly message_created_at_source: CreationTimeSource;
    readonly message_created_at_missing: boolean;
    readonly message_created_at_header_malformed: boolean;
  };
}

/** When a message was created, as far as it can be known. */
export interface CreationTime {
  readonly epochNs: bigint | null;
  readonly source: CreationTimeSource;
  readonly headerMalformed: boolean;
  /** Text of the header `Nats-Time-Stamp`. */
  readonly header: string | null;
}

/** Creation time: a valid header wins, else the server's time (FW-META-02). */
export function creationTime(headers: HeaderMap, timestampNs: bigint | null): CreationTime {
  const header = headers.getFolded("nats-time-stamp") ?? null;
  const stated = header === null ? null : parseRfc3339(header);
  if (stated !== null) return { epochNs: stated, source: "nats_time_stamp", headerMalformed: false, header };
  const source = timestampNs === null ? "missing" : "jetstream_timestamp";
  return { epochNs: timestampNs, source, headerMalformed: header !== null, header };
}

/** Seconds from one time to a later one, 0 when it is not later; null when one is unknown. */
export function secondsBetween(earlierNs: bigint | null, laterNs: bigint | null): number | null {
  if (earlierNs === null || laterNs === null) return null;
  return laterNs <= earlierNs ? 0 : Number(laterNs - earlierNs) / 1e9;
}

/** True for headers that NATS and its companions give a meaning to (FW-META-04). */
export function isReservedHeader(name: string): boolean {
  return /^(?:nats-.*|traceparent|accept-encoding)$/i.test(name);
}

/** The object `payload` of a snapshot, also part of a dead letter. */
function payloadFacts(envelope: Envelope): PayloadFacts {
  return Object.freeze({
    present: envelope.payloadPresent,
    omitted: envelope.payloadOmitted,
    omitted_reason: envelope.payloadOmittedReason,
    original_size_bytes: envelope.originalPayloadSizeBytes,
    delivered_size_bytes: envelope.data.length,
    nats_msg_size_header: envelope.headers.getFolded("nats-msg-size") ?? null,
    nats_msg_size_header_malformed: envelope.payloadSizeHeaderMalformed,
  });
}

/** Builds the snapshot; the storage times are null until `withStorageTime` sets them. */
export function buildSnapshot(envelope: Envelope): MetadataSnapshot {
  const { headers, timestampNs, receivedAtNs } = envelope;
  const created = creationTime(headers, timestampNs);
  const reserved = [...headers].filter(([name]) => isReservedHeader(name));
  return Object.freeze({
    metadata_version: 1,
    subject: envelope.subject,
    reply: envelope.reply,
    message_id: envelope.messageId,
    message_metadata: Object.freeze({
      priority: envelope.priority,
      classification: envelope.classification,
      labels: envelope.labels,
    }),
    mission_metadata: envelope.missionMetadata,
    security_labels: envelope.securityLabels,
    headers: record(headers),
    payload: payloadFacts(envelope),
    nats: Object.freeze({
      reserved_headers: record(reserved),
      reserved_headers_present: Object.freeze(reserved.map(([name]) => name).sort()),
    }),
    jetstream: Object.freeze({
      stream: envelope.stream,
      consumer: envelope.consumer,
      domain: envelope.domain,
      stream_sequence: envelope.streamSequence,
      consumer_sequence: envelope.consumerSequence,
      redelivered: envelope.redelivered,
      pending: envelope.pending,
      timestamp: timestampNs === null ? null : formatRfc3339(timestampNs),
      timestamp_epoch_ns: timestampNs,
      stream_created_at: envelope.streamCreatedAt,
      delivery_count: envelope.deliveryCount,
    }),
    timestamps: Object.freeze({
      message_created_at_epoch_ns: created.epochNs,
      message_created_at_source: created.source,
      message_created_at_header_malformed: created.headerMalformed,
      nats_time_stamp: created.header,
      jetstream_timestamp_epoch_ns: timestampNs,
      received_at: formatRfc3339(receivedAtNs),
      received_at_epoch_ns: receivedAtNs,
      stored_at: null,
      stored_at_epoch_ns: null,
    }),
    freshness: Object.freeze({
      event_age_at_receive_seconds: secondsBetween(created.epochNs, receivedAtNs),
      event_age_at_store_seconds: null,
      source_clock_skew_seconds: secondsBetween(receivedAtNs, created.epochNs),
      message_created_at_source: created.source,
      message_created_at_missing: created.epochNs === null,
      message_created_at_header_malformed: created.headerMalformed,
    }),
  });
}

/** The same snapshot with the storage times filled in. */
export function withStorageTime(snapshot: MetadataSnapshot, storedAtNs: bigint): MetadataSnapshot {
  const { timestamps, freshness } = snapshot;
  return Object.freeze({
    ...snapshot,
    timestamps: Object.freeze({ ...timestamps, stored_at: formatRfc3339(storedAtNs), stored_at_epoch_ns: storedAtNs }),
    freshness: Object.freeze({
      ...freshness,
      event_age_at_store_seconds: secondsBetween(timestamps.message_created_at_epoch_ns, storedAtNs),
    }),
  });
}

function record(headers: Iterable<readonly [string, string]>): Readonly<Record<string, string>> {
  const members: Record<string, string> = {};
  for (const [name, value] of headers) setMember(members, name, value);
  return Object.freeze(members);
}
