import type { Envelope } from "./envelope.js";
import { encodeJson, quoteJson } from "./json-encode.js";
import { creationTime, isReservedHeader, secondsBetween } from "./metadata-snapshot.js";
import { formatRfc3339 } from "./rfc3339.js";

/**
 * The snapshot of FW-META-01 as JSON text, written straight from the envelope: the same text as encoding the snapshot
 * object, at a fraction of its cost. All but the storage times is kept, so a second sink pays for those alone.
 */
export class MetadataText {
  readonly #head: string;
  readonly #middle: string;
  readonly #tail: string;
  readonly #createdNs: bigint | null;

  constructor(envelope: Envelope) {
    const created = creationTime(envelope.headers, envelope.timestampNs);
    const origin = `"message_created_at_source":"${created.source}"`;
    const malformed = `"message_created_at_header_malformed":${created.headerMalformed}`;
    const { receivedAtNs, timestampNs } = envelope;
    this.#createdNs = created.epochNs;
    this.#head =
      `{"metadata_version":1,"subject":${quoteJson(envelope.subject)},"reply":${nullable(envelope.reply)},` +
      `"message_id":${nullable(envelope.messageId)},${fieldsText(envelope)},${headersText(envelope)},${jetStreamText(envelope)},` +
      `"timestamps":{"message_created_at_epoch_ns":${created.epochNs},${origin},${malformed},"nats_time_stamp":${nullable(created.header)},` +
      `"jetstream_timestamp_epoch_ns":${timestampNs},"received_at":${timeText(receivedAtNs)},"received_at_epoch_ns":${receivedAtNs},"stored_at":`;
    this.#middle = `},"freshness":{"event_age_at_receive_seconds":${secondsBetween(created.epochNs, receivedAtNs)},"event_age_at_store_seconds":`;
    this.#tail =
      `,"source_clock_skew_seconds":${secondsBetween(receivedAtNs, created.epochNs)},${origin},` +
      `"message_created_at_missing":${created.epochNs === null},${malformed}}}`;
  }

  /** The whole text; the storage times are null when none is given. */
  at(storedAtNs: bigint | undefined): string {
    if (storedAtNs === undefined) return `${this.#head}null,"stored_at_epoch_ns":null${this.#middle}null${this.#tail}`;
    const age = secondsBetween(this.#createdNs, storedAtNs);
    return `${this.#head}${timeText(storedAtNs)},"stored_at_epoch_ns":${storedAtNs}${this.#middle}${age}${this.#tail}`;
  }
}

function fieldsText(envelope: Envelope): string {
  const { labels, missionMetadata, securityLabels } = envelope;
  const list = labels.length === 0 ? "" : labels.map(quoteJson).join(",");
  return (
    `"message_metadata":{"priority":${nullable(envelope.priority)},"classification":${nullable(envelope.classification)},"labels":[${list}]},` +
    `"mission_metadata":${missionMetadata === null ? "null" : encodeJson(missionMetadata)},` +
    `"security_labels":${securityLabels === null ? "null" : encodeJson(securityLabels)}`
  );
}

function headersText(envelope: Envelope): string {
  const { headers } = envelope;
  let all = "";
  let reserved = "";
  const present: string[] = [];
  if (headers.size > 0) {
    for (const [name, value] of headers) {
      const member = `${quoteJson(name)}:${quoteJson(value)}`;
      all += all === "" ? member : `,${member}`;
      if (!isReservedHeader(name)) continue;
      reserved += reserved === "" ? member : `,${member}`;
      present.push(name);
    }
  }
  return (
    `"headers":{${all}},"payload":{"present":${envelope.payloadPresent},"omitted":${envelope.payloadOmitted},` +
    `"omitted_reason":${nullable(envelope.payloadOmittedReason)},"original_size_bytes":${envelope.originalPayloadSizeBytes},` +
    `"delivered_size_bytes":${envelope.data.length},"nats_msg_size_header":${nullable(headers.get("Nats-Msg-Size") ?? null)},` +
    `"nats_msg_size_header_malformed":${envelope.payloadSizeHeaderMalformed}},` +
    `"nats":{"reserved_headers":{${reserved}},"reserved_headers_present":[${present.sort().map(quoteJson).join(",")}]}`
  );
}

function jetStreamText(envelope: Envelope): string {
  const { timestampNs } = envelope;
  return (
    `"jetstream":{"stream":${nullable(envelope.stream)},"consumer":${nullable(envelope.consumer)},"domain":${nullable(envelope.domain)},` +
    `"stream_sequence":${envelope.streamSequence},"consumer_sequence":${envelope.consumerSequence},"redelivered":${envelope.redelivered},` +
    `"pending":${envelope.pending},"timestamp":${timestampNs === null ? "null" : timeText(timestampNs)},"timestamp_epoch_ns":${timestampNs},` +
    `"stream_created_at":${nullable(envelope.streamCreatedAt)},"delivery_count":${envelope.deliveryCount}}`
  );
}

function nullable(text: string | null): string {
  return text === null ? "null" : quoteJson(text);
}

function timeText(epochNs: bigint): string {
  const text = formatRfc3339(epochNs);
  return text === null ? "null" : `"${text}"`;
}
