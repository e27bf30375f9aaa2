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
export function fateOf(sequence: number, marks: SequenceMarks, { consumer, limits, wholeStream }: Evidence): Fate {
  if (!marks.isPresent(sequence)) return wholeStream ? goneFate(sequence, limits) : "foreign";
  if (sequence <= consumer.floor) return marks.wentAway(sequence) ? goneFate(sequence, limits) : "missing";
  return sequence <= consumer.delivered ? "undecided" : "pending";
}

function goneFate(sequence: number, limits: StreamLimits): Fate {
  return removalReason(sequence, limits) === null ? "missing" : "purged";
}
