import { type Envelope, PermanentSinkError, parseRfc3339 } from "@sinks/core";

/** The newest reading of one sensor, with the place of its message in the stream. */
export interface Reading {
  readonly value: number;
  readonly streamCreatedAt: string;
  readonly sequence: string;
}

/** The reading in a message, such as `{ "value": 21.5 }` on `readings.kitchen`; throws for a message that is none. */
export function readingOf(message: Envelope): readonly [sensor: string, reading: Reading] {
  const { value } = message.payloadForJsonStorage("json_only");
  const sensor = message.subject.split(".").at(-1);
  const number = typeof value === "object" && value !== null && "value" in value ? value["value"] : undefined;
  if (sensor === undefined || typeof number !== "number") {
    throw new PermanentSinkError(`the message on ${message.subject} at sequence ${message.streamSequence} is no reading`);
  }
  return [sensor, { value: number, streamCreatedAt: message.streamCreatedAt ?? "", sequence: String(message.streamSequence) }];
}

/** Keeps the newer one of two readings, so that a message that comes again or out of turn changes nothing. */
export function keepNewest(latest: Map<string, Reading>, sensor: string, reading: Reading): void {
  const known = latest.get(sensor);
  if (known === undefined || isNewer(reading, known)) latest.set(sensor, reading);
}

/** A stream that was made again starts at sequence 1, so the younger stream decides before the sequence does. */
function isNewer(left: Reading, right: Reading): boolean {
  const [leftCreated, rightCreated] = [left, right].map(({ streamCreatedAt }) => parseRfc3339(streamCreatedAt) ?? 0n) as [bigint, bigint];
  return leftCreated === rightCreated ? BigInt(left.sequence) > BigInt(right.sequence) : leftCreated > rightCreated;
}
