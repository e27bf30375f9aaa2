import type { StoredMsg } from "@nats-io/jetstream";
import type { Msg, MsgHdrs } from "@nats-io/transport-node";
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

/** What the client's stored message keeps of the server's answer. */
interface StoredParts {
  readonly smr?: { readonly message?: { readonly hdrs?: string } };
}

/** The same of a message that was read from the stream. */
export function storedHeaderBlockOf(stored: StoredMsg): Uint8Array | null | undefined {
  const { smr: answer } = stored as StoredMsg & StoredParts;
  if (answer?.message === undefined) return undefined;
  const { hdrs: text } = answer.message;
  return text === undefined || text === "" ? null : Buffer.from(text, "base64");
}

function headerReader(message: Msg): (() => HeaderMap) | null {
  return readerOf(headerBlockOf(message), message.headers);
}

function readerOf(block: Uint8Array | null | undefined, headers: MsgHdrs | undefined): (() => HeaderMap) | null {
  if (block !== undefined) return block === null ? null : () => parseHeaderBlock(block);
  return headers === undefined ? null : () => headersFromSource(headers);
}

/** Builds the envelope of a delivery; the acknowledgement stays with `position`, which only the runner keeps. */
export function envelopeOfDelivery(message: Msg, position: AckSubject, origin: EnvelopeOrigin, receivedAtNs: bigint): MessageEnvelope {
  return new MessageEnvelope(new DeliveredMessage(message, position, origin, receivedAtNs));
}

/** Builds the envelope of a delivery again from the message as the stream holds it. */
export function envelopeOfStored(stored: StoredMsg, position: AckSubject, origin: EnvelopeOrigin, receivedAtNs: bigint): MessageEnvelope {
  const block = storedHeaderBlockOf(stored);
  return new MessageEnvelope({
    subject: stored.subject,
    data: stored.data,
    reply: position.text,
    receivedAtNs,
    // Decoding is the client's, too, and may throw: it is asked for only where it keeps no bytes.
    readHeaders: readerOf(block, block === undefined ? stored.header : undefined),
    origin,
    position,
    known: null,
  });
}
