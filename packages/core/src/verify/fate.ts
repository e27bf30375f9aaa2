import type { StreamLimits } from "../source/stream-limits.js";
import { removalReason } from "./removal.js";
import type { SequenceMarks } from "./sequence-marks.js";

/** Where the consumer stood at a reading. */
export interface ConsumerReading {
  /** At or below it nothing is pending. */
  readonly floor: number;
  /** Last sequence that was delivered. */
  readonly delivered: number;
  /** Deliveries that were not acknowledged. */
  readonly ackPending: number;
}

/** What an unaccounted sequence is judged by. */
export interface Evidence {
  /** Of the newest reading that came before the newest look at the destination. */
  readonly consumer: ConsumerReading;
  readonly limits: StreamLimits;
  /** False when the stream holds other subjects than those of the pipeline, so that what is gone may never have been its own. */
  readonly wholeStream: boolean;
  /** The destination itself is gone, and with it whatever was stored. */
  readonly destinationAbsent: boolean;
}

/**
 * What an unaccounted sequence is. `undecided`: delivered, in the stream, above the floor; the server says how many of these
 * are pending, not which. `foreign`: not known to be of this pipeline. `purged` is decided by `removalReason`.
 */
export type Fate = "pending" | "undecided" | "purged" | "missing" | "foreign";

/**
 * Judges one sequence that is neither stored nor dead-lettered (FW-CLI-07). It is sound while the pipeline works: what was
 * acknowledged before the consumer was read was durable before the destination was, and what was gone from the stream at
 * the first look was durable before the second look at the destination.
 */
export function fateOf(sequence: number, marks: SequenceMarks, { consumer, limits, wholeStream, destinationAbsent }: Evidence): Fate {
  const isPresent = marks.isPresent(sequence);
  if (sequence > consumer.floor && isPresent) return sequence <= consumer.delivered ? "undecided" : "pending";
  if (isPresent && !marks.wentAway(sequence)) return "missing";
  // With the destination gone nothing speaks for what the consumer has behind it: for all that is known it was acknowledged.
  if (destinationAbsent && sequence <= consumer.floor) return "missing";
  return isPresent || wholeStream ? goneFate(sequence, limits) : "foreign";
}

function goneFate(sequence: number, limits: StreamLimits): Fate {
  return removalReason(sequence, limits) === null ? "missing" : "purged";
}
