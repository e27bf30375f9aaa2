import type { SequenceNumber } from "../source/sequence.js";
import type { BatcherSettings, Buffered } from "./batcher.js";
import type { FlightEntry } from "./flight.js";

/**
 * The waiting messages in the order they may go; which of them may go now is the lanes' only question. Without an order
 * nothing is ever waited for or parked, so the second half of these calls answers no there.
 */
export interface Lanes {
  /** Takes a message in, new or come back; it goes where its sequence belongs. */
  add(entry: FlightEntry): void;
  /** What could go into a batch at `now`, counted up to one batch. */
  ready(now: number, settings: BatcherSettings): Buffered;
  /** Takes one batch out. Empty when nothing may go. */
  take(now: number, settings: BatcherSettings): FlightEntry[];
  /** Earliest time at which a waiting message may go that may not go at `now`; null when only an event can help. */
  nextAt(now: number): number | null;
  /** The write of an entry has ended, whatever came of it. */
  settleWrite(entry: FlightEntry): void;
  /** Takes a waiting entry out. */
  remove(entry: FlightEntry): void;
  /** Waiting entries in order. */
  waiting(): FlightEntry[];
  /** Forgets everything, for another epoch; the end of a write that began before is then nobody's business. */
  clear(): void;

  /** Nothing goes until `goOn`: deliveries that did not arrive must come again first (FW-RUN-13). */
  standStill(): void;
  goOn(): void;
  readonly standsStill: boolean;
  /** Deliveries that the server counts and that are not here, by the newest reading of the consumer. */
  elsewhere: number;
  /** True while some lane waits for a message to come again. */
  readonly isWaiting: boolean;
  /** Messages that lanes wait for. */
  readonly missing: number;
  /** Sequences some lane waits for. */
  awaited(): SequenceNumber[];
  /**
   * A waiting or failed entry has to come again from the server: its lane waits for it, and gives back its later
   * entries, which come again behind it.
   */
  loseLease(entry: FlightEntry): FlightEntry[];
  /** The entry has to come again from the server, and nothing later of its lane goes before. */
  miss(entry: FlightEntry): void;
  /** The entry comes back here later and not from the server: its lane waits for it, its later entries stay. */
  expect(entry: FlightEntry): void;
  /** The sequence will not come again: its lane goes on. */
  giveUp(sequence: SequenceNumber): void;
  /** Stops the lane of an entry for good (`park_key`) and gives its waiting entries, in order. */
  park(entry: FlightEntry): FlightEntry[];
  /** True when entries of this lane must be parked rather than written. */
  isParked(entry: FlightEntry): boolean;
  /** Opens every parked lane again. */
  unpark(): void;
}
