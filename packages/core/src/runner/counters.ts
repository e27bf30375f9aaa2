/** Totals of a run and the words of its health; one plain record, written by the runner's parts. */
export interface Counters {
  received: number;
  stored: number;
  deadLettered: number;
  discarded: number;
  retried: number;
  /** Still held when the run ended. */
  held: number;
}

/** All at zero. */
export function newCounters(): Counters {
  return { received: 0, stored: 0, deadLettered: 0, discarded: 0, retried: 0, held: 0 };
}
