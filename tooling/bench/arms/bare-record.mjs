import { createHash } from "node:crypto";

const decoder = new TextDecoder("utf-8", { fatal: true });

/** The record of a message as one would write it by hand: the same content as the file sink stores. */
export function bareRecord(message, { streamCreatedAt, streamCreatedNs, includeMetadata }, now) {
  const { info, subject, data } = message;
  const payload = decoder.decode(data);
  // Only a body that is JSON may stand in the record as it is.
  JSON.parse(payload);
  const digest = createHash("sha256").update(data).digest("hex");
  const subjectText = JSON.stringify(subject);
  const record =
    `{"schema":"nats_sinks.file.message.v1","schema_version":1,"idempotency_key":"js:1:::${info.stream}:${streamCreatedNs}:${info.streamSequence}",` +
    `"subject":${subjectText},"stream":"${info.stream}","stream_sequence":${info.streamSequence},"consumer":"${info.consumer}",` +
    `"consumer_sequence":${info.deliverySequence},"message_id":null,"priority":null,"classification":null,"labels":null,"labels_list":[],` +
    `"mission_metadata":null,"security_labels":null,"custody":null,"payload":${payload},"payload_info":{"original_format":"json",` +
    `"wrapped":false,"sha256":"${digest}","size_bytes":${data.length}}`;
  return includeMetadata ? `${record},"metadata":${metadata(message, subjectText, streamCreatedAt, now)}}\n` : `${record}}\n`;
}

function metadata(message, subjectText, streamCreatedAt, now) {
  const { info, data, reply, redelivered, timestampNanos: time } = message;
  const age = now.ns <= time ? 0 : Number(now.ns - time) / 1e9;
  return (
    `{"metadata_version":1,"subject":${subjectText},"reply":${JSON.stringify(reply)},"message_id":null,` +
    `"message_metadata":{"priority":null,"classification":null,"labels":[]},"mission_metadata":null,"security_labels":null,"headers":{},` +
    `"payload":{"present":true,"omitted":false,"omitted_reason":null,"original_size_bytes":${data.length},"delivered_size_bytes":${data.length},` +
    `"nats_msg_size_header":null,"nats_msg_size_header_malformed":false},"nats":{"reserved_headers":{},"reserved_headers_present":[]},` +
    `"jetstream":{"stream":"${info.stream}","consumer":"${info.consumer}","domain":null,"stream_sequence":${info.streamSequence},` +
    `"consumer_sequence":${info.deliverySequence},"redelivered":${redelivered},"pending":${info.pending},"timestamp":"${timeText(time)}",` +
    `"timestamp_epoch_ns":${time},"stream_created_at":"${streamCreatedAt}","delivery_count":${info.deliveryCount}},` +
    `"timestamps":{"message_created_at_epoch_ns":${time},"message_created_at_source":"jetstream_timestamp","message_created_at_header_malformed":false,` +
    `"nats_time_stamp":null,"jetstream_timestamp_epoch_ns":${time},"received_at":"${now.text}","received_at_epoch_ns":${now.ns},` +
    `"stored_at":"${now.text}","stored_at_epoch_ns":${now.ns}},"freshness":{"event_age_at_receive_seconds":${age},` +
    `"event_age_at_store_seconds":${age},"source_clock_skew_seconds":0,"message_created_at_source":"jetstream_timestamp",` +
    `"message_created_at_missing":false,"message_created_at_header_malformed":false}}`
  );
}

/** The present, once for a batch. */
export function presentTime() {
  const ns = BigInt(Date.now()) * 1_000_000n;
  return { ns, text: timeText(ns) };
}

let knownSecond = -1;
let knownText = "";

/** RFC 3339 with nanoseconds; messages of one second share the costly part. */
function timeText(nanoseconds) {
  const second = Number(nanoseconds / 1_000_000_000n);
  if (second !== knownSecond) {
    knownSecond = second;
    knownText = new Date(second * 1000).toISOString().slice(0, 20);
  }
  return `${knownText}${String(Number(nanoseconds % 1_000_000_000n) + 1_000_000_000).slice(1)}Z`;
}
