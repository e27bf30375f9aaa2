import { type BatcherSettings, type Buffered, fitsBatch } from "./batcher.js";
import type { FlightEntry } from "./flight.js";
import type { Lanes } from "./lanes.js";

/** `ordering: none`: one queue, first come first served; a delayed message stands aside until its time. */
export class FreeLanes implements Lanes {
  #queue: FlightEntry[] = [];
  #head = 0;
  #bytes = 0;
  readonly #delayed: FlightEntry[] = [];
  elsewhere = 0;

  add(entry: FlightEntry): void {
    if (entry.retryAt > 0) {
      const later = this.#delayed.findIndex((other) => other.retryAt > entry.retryAt);
      this.#delayed.splice(later < 0 ? this.#delayed.length : later, 0, entry);
      return;
    }
    this.#push(entry);
  }

  ready(now: number, settings: BatcherSettings): Buffered {
    this.#admitDue(now);
    const first = this.#queue[this.#head];
    if (first === undefined) return { messages: 0, bytes: 0, firstAt: now };
    if (first.single) return { messages: settings.batchSize, bytes: first.bytes, firstAt: first.arrivedAt };
    return { messages: this.#queue.length - this.#head, bytes: this.#bytes, firstAt: first.arrivedAt };
  }

  take(now: number, settings: BatcherSettings): FlightEntry[] {
    this.#admitDue(now);
    const batch: FlightEntry[] = [];
    let total = 0;
    while (this.#head < this.#queue.length) {
      const entry = this.#queue[this.#head] as FlightEntry;
      if (entry.single && batch.length > 0) break;
      if (!fitsBatch(settings, batch.length, total, entry.bytes)) break;
      this.#head += 1;
      this.#bytes -= entry.bytes;
      total += entry.bytes;
      batch.push(entry);
      if (entry.single) break;
    }
    this.#compact();
    return batch;
  }

  nextAt(now: number): number | null {
    return this.#delayed.find((entry) => entry.retryAt > now)?.retryAt ?? null;
  }

  settleWrite(): void {
    // Nothing waits for a write to end: there is no order to keep.
  }

  remove(entry: FlightEntry): void {
    const delayed = this.#delayed.indexOf(entry);
    if (delayed >= 0) {
      this.#delayed.splice(delayed, 1);
      return;
    }
    const index = this.#queue.indexOf(entry, this.#head);
    if (index < 0) return;
    this.#queue.splice(index, 1);
    this.#bytes -= entry.bytes;
  }

  waiting(): FlightEntry[] {
    return [...this.#queue.slice(this.#head), ...this.#delayed];
  }

  clear(): void {
    this.#queue = [];
    this.#head = 0;
    this.#bytes = 0;
    this.#delayed.length = 0;
  }

  #push(entry: FlightEntry): void {
    this.#queue.push(entry);
    this.#bytes += entry.bytes;
  }

  #admitDue(now: number): void {
    while (this.#delayed.length > 0 && (this.#delayed[0] as FlightEntry).retryAt <= now) {
      const entry = this.#delayed.shift() as FlightEntry;
      entry.retryAt = 0;
      this.#push(entry);
    }
  }

  #compact(): void {
    if (this.#head < 1024 && this.#head < this.#queue.length) return;
    this.#queue = this.#queue.slice(this.#head);
    this.#head = 0;
  }

  standStill(): void {
    // There is no order to wait for.
  }

  goOn(): void {
    // It never stood still.
  }

  get standsStill(): false {
    return false;
  }

  get isWaiting(): false {
    return false;
  }

  get missing(): 0 {
    return 0;
  }

  awaited(): [] {
    return [];
  }

  loseLease(): [] {
    return [];
  }

  miss(): void {
    // What comes again may come at any time.
  }

  expect(): void {
    // What comes back may come at any time.
  }

  giveUp(): void {
    // Nothing waits.
  }

  park(): [] {
    return [];
  }

  isParked(): false {
    return false;
  }

  unpark(): void {
    // Nothing is ever parked.
  }
}
