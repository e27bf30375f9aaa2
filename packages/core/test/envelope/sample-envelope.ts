import { createEnvelopeOrigin, type EnvelopeOriginFields } from "../../src/envelope/envelope-origin.js";
import { normaliseHeaders } from "../../src/envelope/headers.js";
import { type EnvelopeInput, MessageEnvelope, type MessagePosition } from "../../src/envelope/message-envelope.js";

const sampleOriginFields: EnvelopeOriginFields = {
  stream: "EVENTS",
  consumer: "sink",
  domain: null,
  account: null,
  streamCreatedAt: "2026-01-02T03:04:05.123456789Z",
};

export const samplePosition: MessagePosition = {
  streamSequence: 42n,
  consumerSequence: 7n,
  timestampNs: 1_767_225_600_123_456_789n,
  deliveryCount: 1,
  pending: 3,
};

export interface SampleFields extends Partial<Omit<EnvelopeInput, "data" | "readHeaders" | "origin">> {
  readonly data?: Uint8Array | string;
  readonly headers?: readonly (readonly [string, string])[];
  readonly origin?: Partial<EnvelopeOriginFields>;
  readonly readHeaders?: EnvelopeInput["readHeaders"];
}

/** An envelope as ingestion builds it, with every field overridable. */
export function sampleEnvelope(fields: SampleFields = {}): MessageEnvelope {
  const { data = '{"n":1}', headers, origin, readHeaders, ...rest } = fields;
  return new MessageEnvelope({
    subject: "events.a",
    reply: "$JS.ACK.EVENTS.sink.1.42.7.1767225600123456789.3",
    receivedAtNs: 1_767_225_600_223_456_789n,
    position: samplePosition,
    known: null,
    ...rest,
    data: typeof data === "string" ? Buffer.from(data, "utf8") : data,
    readHeaders: readHeaders ?? (headers === undefined ? null : () => normaliseHeaders(headers)),
    origin: createEnvelopeOrigin({ ...sampleOriginFields, ...origin }),
  });
}

/** What an expression throws; fails when it throws nothing. */
export function thrownBy(action: () => unknown): Error & { readonly code?: string } {
  try {
    action();
  } catch (error) {
    if (error instanceof Error) return error;
    throw error;
  }
  throw new Error("nothing was thrown");
}

/** Names of all fields of an envelope but body and headers. */
export const fieldNames = [
  "subject",
  "stream",
  "consumer",
  "domain",
  "account",
  "streamCreatedAt",
  "streamSequence",
  "consumerSequence",
  "timestampNs",
  "receivedAtNs",
  "messageId",
  "deliveryCount",
  "redelivered",
  "pending",
  "priority",
  "classification",
  "labels",
  "missionMetadata",
  "securityLabels",
  "custody",
  "reply",
  "payloadPresent",
  "payloadOmitted",
  "payloadOmittedReason",
  "originalPayloadSizeBytes",
  "payloadSizeHeaderMalformed",
] as const;
