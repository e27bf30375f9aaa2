import { createEnvelope } from "../../src/envelope/create-envelope.js";
import type { Envelope } from "../../src/envelope/envelope.js";
import { type Arrival, Flight, type FlightEntry } from "../../src/runner/flight.js";
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

/** What admits a message to a flight. */
export function arrivalOf(fields: MessageFields, overrides: Partial<Arrival> = {}): Arrival {
  return {
    envelope: envelopeOf(fields),
    position: positionOf(fields),
    bytes: 100,
    epoch: 1,
    at: 0,
    single: false,
    rejection: null,
    leaseMs: 30_000,
    beatMs: 5000,
    ...overrides,
  };
}

/** An entry outside any flight that a test looks at. */
export function entryOf(fields: MessageFields, overrides: Partial<Arrival> = {}): FlightEntry {
  return new Flight().admit(arrivalOf(fields, overrides));
}
