import { createEnvelope } from "../../src/envelope/create-envelope.js";
import type { Envelope } from "../../src/envelope/envelope.js";
import type { SinkError } from "../../src/error/errors.js";
import { type Flight, FlightEntry } from "../../src/runner/flight.js";
import { type PositionFields, positionOf } from "./positions.js";

/** Fields of a test message; everything has a default but the sequence. */
export interface MessageFields extends PositionFields {
  readonly subject?: string;
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** An envelope of the stream `EVENTS` as a source would make it. */
export function envelopeOf(fields: MessageFields): Envelope {
  const { sequence, subject = "events.a", body = "{}", headers = {}, count = 1, consumerSequence = sequence } = fields;
  return createEnvelope({
    subject,
    data: new TextEncoder().encode(body),
    headers,
    receivedAtNs: 1_700_000_000_000_000_000n,
    stream: "EVENTS",
    consumer: "sink",
    streamCreatedAt: "2026-01-01T00:00:00Z",
    streamSequence: BigInt(sequence),
    consumerSequence: BigInt(consumerSequence),
    deliveryCount: count,
  });
}

/** What a test gives an entry besides its message. */
export interface EntryFields {
  readonly envelope?: Envelope;
  readonly bytes?: number;
  readonly epoch?: number;
  readonly at?: number;
  readonly single?: boolean;
  readonly rejection?: SinkError;
}

/** An entry outside any flight. */
export function entryOf(message: MessageFields, fields: EntryFields = {}): FlightEntry {
  const { envelope = envelopeOf(message), bytes = 100, epoch = 1, at = 0, single = false, rejection = null } = fields;
  const entry = new FlightEntry(envelope, positionOf(message), bytes, epoch, at);
  entry.single = single;
  entry.rejection = rejection;
  entry.leaseUntil = at + 30_000;
  entry.nextBeatAt = at + 5000;
  return entry;
}

/** An entry admitted to a flight. */
export function admitted(flight: Flight, message: MessageFields, fields: EntryFields = {}): FlightEntry {
  const entry = entryOf(message, fields);
  flight.admit(entry);
  return entry;
}
