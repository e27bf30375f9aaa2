import { isErrorKind } from "../error/errors.js";
import type { FlightEntry } from "./flight.js";

/** A batch as the gates left it. */
export interface GatedBatch {
  readonly writable: readonly FlightEntry[];
  /** What a gate rejected: not written, but in its place in its lane until here. */
  readonly refused: readonly FlightEntry[];
  /** Behind a rejected one in a lane that must stop there (FW-RUN-13, FW-RUN-36). */
  readonly behind: readonly FlightEntry[];
}

const none: readonly FlightEntry[] = Object.freeze([]);

/**
 * Sorts a batch by what its gates said. A lane of an `ordered` pipeline stands still behind a message that a gate could not
 * judge and is to try again; `stops` says that it does behind one that can never be stored, too.
 */
export function gateResult(batch: readonly FlightEntry[], ordered: boolean, stops: boolean): GatedBatch {
  if (batch.every((entry) => entry.rejection === null)) return { writable: batch, refused: none, behind: none };
  const stopped = new Set<number>();
  const writable: FlightEntry[] = [];
  const refused: FlightEntry[] = [];
  const behind: FlightEntry[] = [];
  for (const entry of batch) {
    if (entry.rejection !== null) {
      refused.push(entry);
      if (ordered && (stops || !isErrorKind(entry.rejection, "PermanentSinkError"))) stopped.add(entry.lane);
    } else if (stopped.has(entry.lane)) behind.push(entry);
    else writable.push(entry);
  }
  return { writable, refused, behind };
}
