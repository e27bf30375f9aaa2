import type { Configuration } from "../config/schema.js";
import { createEnvelope, type GivenHeaders } from "../envelope/create-envelope.js";
import type { Envelope } from "../envelope/envelope.js";
import { compileMessageMetadata } from "../envelope/message-metadata.js";

/** A message that never was in the stream. */
export interface MadeMessage {
  readonly subject: string;
  readonly data: Uint8Array;
  readonly headers: GivenHeaders;
  /** When it counts as published and received, ns since the Unix epoch. */
  readonly nowNs: bigint;
}

/**
 * Makes a message as the pipeline would receive it: the first of its stream, delivered for the first time. Throws the error
 * that would reject it at arrival.
 */
export function makeMessage({ nats, idempotency, message_metadata: metadata }: Configuration, message: MadeMessage): Envelope {
  const { nowNs, ...given } = message;
  return createEnvelope({
    ...given,
    receivedAtNs: nowNs,
    timestampNs: nowNs,
    stream: nats.stream,
    consumer: nats.consumer,
    domain: nats.domain,
    account: idempotency.account,
    streamSequence: 1n,
    consumerSequence: 1n,
    deliveryCount: 1,
    pending: 0,
    messageMetadata: compileMessageMetadata(metadata),
  });
}
