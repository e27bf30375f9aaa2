import type { Envelope } from "./envelope.js";
import { encodeJson, quoteJson } from "./json-encode.js";
import { creationTime, isReservedHeader, secondsBetween } from "./metadata-snapshot.js";
import { formatRfc3339 } from "./rfc3339.js";

/** The object `jetstream` of a snapshot, as far as it is the same for all messages of an origin. */
export interface OriginText {
  readonly head: string;
  readonly tail: string;
}

/** Writes what the snapshots of one origin have in common. */
export function originText(origin: Pick<Envelope, "stream" | "consumer" | "domain" | "streamCreatedAt">): OriginText {
  return Object.freeze({
    head: `"jetstream":{"stream":${nullable(origin.stream)},"consumer":${nullable(origin.consumer)},"domain":${nullable(origin.domain)},"stream_sequence":`,
    tail: `,"stream_created_at":${nullable(origin.streamCreatedAt)},"delivery_count":`,
  });
}

/**
 * The snapshot of FW-META-01 as JSON text, written straight from the envelope: the same text as encoding the snapshot
 * object, at a fraction of its cost. All but the storage times is kept, so a second sink pays for those alone.
 */
export class MetadataText {
  readonly #head: string;
  readonly #middle: string;
  readonly #tail: string;
  readonly #createdNs: bigint | null;

  constructor(envelope: Envelope, origin: OriginText) {
    const { receivedAtNs, timestampNs } = envelope;
    const created = creationTime(envelope.headers, timestampNs);
    const serverTime = `${timestampNs}`;
    const createdTime = created.epochNs === timestampNs ? serverTime : `${created.epochNs}`;
    const source = `"message_created_at_source":"${created.source}"`;
    const malformed = created.headerMalformed ? malformedTime : wellFormedTime;
    const age = secondsBetween(created.epochNs, receivedAtNs);
    this.#createdNs = created.epochNs;
    this.#head =
      `{"metadata_version":1,"subject":${quoteJson(envelope.subject)},"reply":${nullable(envelope.reply)},` +
      `"message_id":${nullable(envelope.messageId)},${fieldsText(envelope)}${headersText(envelope)}${origin.head}${envelope.streamSequence},` +
      `"consumer_sequence":${envelope.consumerSequence},"redelivered":${envelope.redelivered},"pending":${envelope.pending},` +
      `"timestamp":${timestampNs === null ? "null" : timeText(timestampNs)},"timestamp_epoch_ns":${serverTime}${origin.tail}${envelope.deliveryCount}},` +
      `"timestamps":{"message_created_at_epoch_ns":${createdTime},${source},${malformed},"nats_time_stamp":${nullable(created.header)},` +
      `"jetstream_timestamp_epoch_ns":${serverTime},"received_at":${timeText(receivedAtNs)},"received_at_epoch_ns":${receivedAtNs},"stored_at":`;
    this.#middle = `},"freshness":{"event_age_at_receive_seconds":${age},"event_age_at_store_seconds":`;
    this.#tail =
      `,"source_clock_skew_seconds":${secondsBetween(receivedAtNs, created.epochNs)},${source},` +
      `"message_created_at_missing":${created.epochNs === null},${malformed}}}`;
  }

  /** The whole text; the storage times are null when none is given. */
  at(storedAtNs: bigint | undefined): string {
    if (storedAtNs === undefined) return `${this.#head}null,"stored_at_epoch_ns":null${this.#middle}null${this.#tail}`;
    const age = secondsBetween(this.#createdNs, storedAtNs);
    return `${this.#head}${timeText(storedAtNs)},"stored_at_epoch_ns":${storedAtNs}${this.#middle}${age}${this.#tail}`;
  }
}

const malformedTime = `"message_created_at_header_malformed":true`;
const wellFormedTime = `"message_created_at_header_malformed":false`;
const noFields = `"message_metadata":{"priority":null,"classification":null,"labels":[]},"mission_metadata":null,"security_labels":null,`;

function fieldsText(envelope: Envelope): string {
  const { priority, classification, labels, missionMetadata, securityLabels } = envelope;
  if (priority === null && classification === null && labels.length === 0 && missionMetadata === null && securityLabels === null)
    return noFields;
  return (
    `"message_metadata":{"priority":${nullable(priority)},"classification":${nullable(classification)},"labels":[${labels.map(quoteJson).join(",")}]},` +
    `"mission_metadata":${encodeJson(missionMetadata)},"security_labels":${encodeJson(securityLabels)},`
  );
}

function headersText(envelope: Envelope): string {
  const { headers } = envelope;
  const delivered = envelope.data.length;
  if (headers.size === 0 && envelope.originalPayloadSizeBytes === delivered && envelope.payloadPresent) {
    return (
      `"headers":{},"payload":{"present":true,"omitted":false,"omitted_reason":null,"original_size_bytes":${delivered},"delivered_size_bytes":${delivered},` +
      `"nats_msg_size_header":null,"nats_msg_size_header_malformed":false},"nats":{"reserved_headers":{},"reserved_headers_present":[]},`
    );
  }
  let all = "";
  let reserved = "";
  const present: string[] = [];
  for (const [name, value] of headers) {
    const member = `${quoteJson(name)}:${quoteJson(value)}`;
    all += all === "" ? member : `,${member}`;
    if (!isReservedHeader(name)) continue;
    reserved += reserved === "" ? member : `,${member}`;
    present.push(name);
  }
  const names = present.length < 2 ? present : present.sort();
  return (
    `"headers":{${all}},"payload":{"present":${envelope.payloadPresent},"omitted":${envelope.payloadOmitted},` +
    `"omitted_reason":${nullable(envelope.payloadOmittedReason)},"original_size_bytes":${envelope.originalPayloadSizeBytes},` +
    `"delivered_size_bytes":${delivered},"nats_msg_size_header":${nullable(headers.getFolded("nats-msg-size") ?? null)},` +
    `"nats_msg_size_header_malformed":${envelope.payloadSizeHeaderMalformed}},` +
    `"nats":{"reserved_headers":{${reserved}},"reserved_headers_present":[${names.map(quoteJson).join(",")}]},`
  );
}

function nullable(text: string | null): string {
  return text === null ? "null" : quoteJson(text);
}

function timeText(epochNs: bigint): string {
  const text = formatRfc3339(epochNs);
  return text === null ? "null" : `"${text}"`;
}
