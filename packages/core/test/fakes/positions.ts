import { AckSubject } from "../../src/source/ack-subject.js";
import type { SequenceNumber } from "../../src/source/sequence.js";

/** What an ack subject says besides the names. */
export interface PositionFields {
  readonly sequence: SequenceNumber;
  readonly count?: number;
  readonly consumerSequence?: SequenceNumber;
  readonly pending?: number;
}

/** When every message was stored, as the stream writes it; the ack subjects say the same in ns. */
export const messageTime = "2023-11-14T22:13:20Z";

/** The text of an ack subject in the short form. */
export function ackText({ sequence, count = 1, consumerSequence = sequence, pending = 0 }: PositionFields): string {
  return `$JS.ACK.EVENTS.sink.${count}.${sequence}.${consumerSequence}.1700000000000000000.${pending}`;
}

/** A parsed ack subject; throws when the fields make none. */
export function positionOf(fields: PositionFields): AckSubject {
  const position = AckSubject.parse(ackText(fields));
  if (position === null) throw new Error(`no ack subject: ${ackText(fields)}`);
  return position;
}
