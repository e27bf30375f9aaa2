import { effectiveDeadline } from "./backoff.js";
import type { Flight, FlightEntry } from "./flight.js";
import type { ConsumerDeadlines } from "./pipeline-settings.js";

/** How leases are kept (FW-RUN-15). */
export interface LeaseSettings {
  readonly enabled: boolean;
  readonly intervalMs: number;
  readonly maxBeats: number;
}

/** What keeping leases asks of others. */
export interface LeaseEffects {
  /** Sends a heartbeat; false when it could not be sent. */
  extend(entry: FlightEntry): boolean;
  /** The server may have delivered this message again by now. */
  lost(entry: FlightEntry): void;
}

/**
 * Beats over the flight: every entry that is not being settled is renewed in time, whatever it waits for. A beat that
 * fails is tried again at the next tick, for that entry only (FW-RUN-16).
 */
export class Leases {
  readonly #settings: LeaseSettings;
  readonly #deadlines: ConsumerDeadlines;
  readonly #inOrder: boolean;
  #failed = 0;

  /**
   * `inOrder` renews all leases together, by sequence: when the process dies they run out in that order, and so the next one
   * gets the messages of a lane again in theirs.
   */
  constructor(settings: LeaseSettings, deadlines: ConsumerDeadlines, inOrder: boolean) {
    this.#settings = settings;
    this.#deadlines = deadlines;
    this.#inOrder = inOrder;
  }

  /** Heartbeats that could not be sent. */
  get failed(): number {
    return this.#failed;
  }

  /** The consumer's deadline for a delivery, in ms. */
  deadline(deliveryCount: number): number {
    return effectiveDeadline(this.#deadlines.ackWaitMs, this.#deadlines.backoffMs, deliveryCount);
  }

  /** Time between two beats of a delivery: the configured one, a third of the deadline at most. */
  interval(deliveryCount: number): number {
    return Math.min(this.#settings.intervalMs, Math.floor(this.deadline(deliveryCount) / 3));
  }

  /** Starts a lease anew, for a sequence delivered again. */
  renew(entry: FlightEntry, now: number): void {
    entry.leaseUntil = now + this.deadline(entry.position.count);
    entry.nextBeatAt = now + this.interval(entry.position.count);
    entry.beats = 0;
    entry.late = false;
  }

  /** One round. `now` is monotonic, so a clock that is set never costs a lease. */
  tick(flight: Flight, now: number, effects: LeaseEffects): void {
    const lost: FlightEntry[] = [];
    for (const entry of flight.entries()) {
      if (entry.state === "settling" || entry.late || now < entry.leaseUntil) continue;
      entry.late = true;
      lost.push(entry);
    }
    // Before the beats: what is let go for a lost lease must not be leased anew, or nobody would have it for that long.
    for (const entry of lost) effects.lost(entry);
    if (!this.#settings.enabled) return;
    for (const entry of this.#inOrder ? this.#round(flight, now) : this.#due(flight, now)) this.#beat(entry, now, effects);
  }

  #due(flight: Flight, now: number): FlightEntry[] {
    const due: FlightEntry[] = [];
    for (const entry of flight.entries()) if (this.#isKept(entry) && now >= entry.nextBeatAt) due.push(entry);
    return due;
  }

  /** All as soon as one is due, or one came again behind later ones; what only failed before is tried again alone. */
  #round(flight: Flight, now: number): FlightEntry[] {
    let begins = false;
    for (const entry of flight.entries()) {
      if (!this.#isKept(entry) || entry.unbeaten) continue;
      begins ||= now >= entry.nextBeatAt || (entry.beats === 0 && entry.position.count > 1);
    }
    if (!begins) return this.#due(flight, now);
    return [...flight.entries()].filter((entry) => this.#isKept(entry)).sort((a, b) => (a.sequence < b.sequence ? -1 : 1));
  }

  #isKept(entry: FlightEntry): boolean {
    return entry.state !== "settling" && entry.beats < this.#settings.maxBeats;
  }

  #beat(entry: FlightEntry, now: number, effects: LeaseEffects): void {
    if (!effects.extend(entry)) {
      this.#failed += 1;
      entry.unbeaten = true;
      return;
    }
    entry.unbeaten = false;
    entry.beats += 1;
    entry.leaseUntil = Math.max(entry.leaseUntil, now + this.deadline(entry.position.count));
    entry.nextBeatAt = now + this.interval(entry.position.count);
  }
}
