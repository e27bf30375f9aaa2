import type { StoredMsg } from "@nats-io/jetstream";
import type { Msg } from "@nats-io/transport-node";
import type { EnvelopeOrigin } from "../envelope/envelope-origin.js";
import { parseHeaderBlock } from "../envelope/header-block.js";
import { type HeaderMap, headersFromSource } from "../envelope/headers.js";
import { type EnvelopeInput, type KnownValues, MessageEnvelope } from "../envelope/message-envelope.js";
import type { AckSubject } from "./ack-subject.js";

/** A message as the client hands it over; only `source/` looks inside. */
export type ReceivedMessage = Msg;

/** What the client's message keeps of the wire; read when it is there, because decoded headers have lost invalid bytes. */
interface WireParts {
  readonly _rdata?: Uint8Array;
  readonly _msg?: { readonly hdr?: number };
}

/**
 * A delivered message as the input of an envelope. It keeps the subject, the body and the header bytes, not the client's
 * message: that one holds more, and thousands of them are in flight.
 */
class DeliveredMessage implements EnvelopeInput {
  readonly subject: string;
  readonly data: Uint8Array;
  readonly position: AckSubject;
  readonly origin: EnvelopeOrigin;
  readonly receivedAtNs: bigint;
  readonly readHeaders: (() => HeaderMap) | null;

  constructor(message: Msg, position: AckSubject, origin: EnvelopeOrigin, receivedAtNs: bigint) {
    this.subject = message.subject;
    this.data = message.data;
    this.position = position;
    this.origin = origin;
    this.receivedAtNs = receivedAtNs;
    this.readHeaders = headerReader(message);
  }

  get reply(): string {
    return this.position.text;
  }

  get known(): KnownValues | null {
    return null;
  }
}

/** Header bytes as they came: null for a message without headers, undefined when the client keeps no bytes of them. */
export function headerBlockOf(message: Msg): Uint8Array | null | undefined {
  const { _rdata: bytes, _msg: parts } = message as Msg & WireParts;
  if (bytes === undefined || parts?.hdr === undefined) return undefined;
  return parts.hdr > 0 ? bytes.subarray(0, parts.hdr) : null;
}

function headerReader(message: Msg): (() => HeaderMap) | null {
  const block = headerBlockOf(message);
  if (block !== undefined) return block === null ? null : () => parseHeaderBlock(block);
  const headers = message.headers;
  return headers === undefined ? null : () => headersFromSource(headers);
}

/** Builds the envelope of a delivery; the acknowledgement stays with `position`, which only the runner keeps. */
export function envelopeOfDelivery(message: Msg, position: AckSubject, origin: EnvelopeOrigin, receivedAtNs: bigint): MessageEnvelope {
  return new MessageEnvelope(new DeliveredMessage(message, position, origin, receivedAtNs));
}

/** Builds the envelope of a delivery again from the message as the stream holds it. */
export function envelopeOfStored(stored: StoredMsg, position: AckSubject, origin: EnvelopeOrigin, receivedAtNs: bigint): MessageEnvelope {
  const headers = stored.header;
  return new MessageEnvelope({
    subject: stored.subject,
    data: stored.data,
    reply: position.text,
    receivedAtNs,
    readHeaders: headers === undefined ? null : () => headersFromSource(headers),
    origin,
    position,
    known: null,
  });
}
