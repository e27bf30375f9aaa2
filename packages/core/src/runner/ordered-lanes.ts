import type { SequenceNumber } from "../source/sequence.js";
import { type BatcherSettings, type Buffered, fitsBatch } from "./batcher.js";
import type { FlightEntry } from "./flight.js";
import type { Lanes } from "./lanes.js";

function bufferOf(entries: Iterable<FlightEntry>, settings: BatcherSettings): Buffered {
  let messages = 0;
  let bytes = 0;
  let firstAt = Number.POSITIVE_INFINITY;
  for (const entry of entries) {
    messages += 1;
    bytes += entry.bytes;
    if (entry.arrivedAt < firstAt) firstAt = entry.arrivedAt;
    // What must be written alone ends the batch that could be had now: waiting would not make it larger.
    if (entry.single) return { messages: Math.max(messages, settings.batchSize), bytes, firstAt };
    if (messages >= settings.batchSize || bytes >= settings.batchMaxBytes) break;
  }
  return { messages, bytes, firstAt };
}

interface Lane {
  readonly number: number;
  readonly key: string;
  /** Waiting entries by sequence. */
  readonly queue: FlightEntry[];
  writing: number;
  /** Sequences that must come again before anything later may go (FW-RUN-13). */
  readonly awaited: Set<SequenceNumber>;
  /** Sequences held here that come back before anything later may go. */
  readonly expected: Set<SequenceNumber>;
  parked: boolean;
}

/**
 * `strict` and `per_key`: a lane per key, one writer at a time, entries by sequence. A lane stands still while its head
 * waits for its retry, and while a sequence it lost is awaited; all stand still after a restart. A lane that had
 * its turn goes behind the others, so that a busy one starves nobody.
 */
export class OrderedLanes implements Lanes {
  readonly #lanes = new Map<string, Lane>();
  readonly #byNumber = new Map<number, Lane>();
  readonly #keyOf: (entry: FlightEntry) => string;
  readonly #wholeLane: boolean;
  #next = 1;
  #standsStill = false;
  elsewhere = 0;

  /** `wholeLane`: the sink keeps order inside a batch, so a lane may give more than one message to it (FW-RUN-35). */
  constructor(keyOf: (entry: FlightEntry) => string, wholeLane: boolean) {
    this.#keyOf = keyOf;
    this.#wholeLane = wholeLane;
  }

  standStill(): void {
    this.#standsStill = true;
  }

  goOn(): void {
    this.#standsStill = false;
  }

  get standsStill(): boolean {
    return this.#standsStill;
  }

  awaited(): SequenceNumber[] {
    return [...this.#lanes.values()].flatMap((lane) => [...lane.awaited]);
  }

  get missing(): number {
    return Math.max(this.#standsStill ? this.elsewhere : 0, this.awaited().length);
  }

  get isWaiting(): boolean {
    if (this.#standsStill) return true;
    for (const lane of this.#lanes.values()) if (lane.awaited.size > 0) return true;
    return false;
  }

  add(entry: FlightEntry): void {
    const lane = this.#byNumber.get(entry.lane) ?? this.#laneOf(entry);
    entry.lane = lane.number;
    lane.awaited.delete(entry.sequence);
    lane.expected.delete(entry.sequence);
    let index = lane.queue.length;
    while (index > 0 && (lane.queue[index - 1] as FlightEntry).sequence > entry.sequence) index -= 1;
    lane.queue.splice(index, 0, entry);
  }

  ready(now: number, settings: BatcherSettings): Buffered {
    return bufferOf(this.#takable(now), settings);
  }

  take(now: number, settings: BatcherSettings): FlightEntry[] {
    const batch: FlightEntry[] = [];
    let total = 0;
    for (const entry of this.#takable(now)) {
      if (entry.single && batch.length > 0) break;
      if (!fitsBatch(settings, batch.length, total, entry.bytes)) break;
      total += entry.bytes;
      batch.push(entry);
      if (entry.single) break;
    }
    for (const entry of batch) {
      const lane = this.#byNumber.get(entry.lane) as Lane;
      lane.queue.shift();
      if (lane.writing === 0) this.#moveBack(lane);
      lane.writing += 1;
      entry.retryAt = 0;
    }
    return batch;
  }

  nextAt(now: number): number | null {
    let earliest: number | null = null;
    for (const lane of this.#lanes.values()) {
      const at = lane.queue[0]?.retryAt ?? 0;
      if (at > now && lane.writing === 0 && (earliest === null || at < earliest)) earliest = at;
    }
    return earliest;
  }

  settleWrite(entry: FlightEntry): void {
    const lane = this.#byNumber.get(entry.lane);
    if (lane === undefined) return;
    lane.writing -= 1;
    this.#dropEmpty(lane);
  }

  remove(entry: FlightEntry): void {
    const lane = this.#byNumber.get(entry.lane);
    if (lane === undefined) return;
    const index = lane.queue.indexOf(entry);
    if (index >= 0) lane.queue.splice(index, 1);
    this.#dropEmpty(lane);
  }

  waiting(): FlightEntry[] {
    return [...this.#lanes.values()].flatMap((lane) => lane.queue);
  }

  clear(): void {
    this.#lanes.clear();
    this.#byNumber.clear();
    this.#standsStill = false;
  }

  loseLease(entry: FlightEntry): FlightEntry[] {
    const lane = this.#byNumber.get(entry.lane);
    if (lane === undefined) return [];
    const own = lane.queue.indexOf(entry);
    if (own >= 0) lane.queue.splice(own, 1);
    lane.awaited.add(entry.sequence);
    const later = lane.queue.filter((other) => other.sequence > entry.sequence);
    lane.queue.splice(lane.queue.length - later.length, later.length);
    for (const other of later) lane.awaited.add(other.sequence);
    return later;
  }

  miss(entry: FlightEntry): void {
    this.#byNumber.get(entry.lane)?.awaited.add(entry.sequence);
  }

  expect(entry: FlightEntry): void {
    this.#byNumber.get(entry.lane)?.expected.add(entry.sequence);
  }

  giveUp(sequence: SequenceNumber): void {
    for (const lane of this.#lanes.values()) {
      if (lane.awaited.delete(sequence)) this.#dropEmpty(lane);
    }
  }

  park(entry: FlightEntry): FlightEntry[] {
    const lane = this.#byNumber.get(entry.lane);
    if (lane === undefined) return [];
    lane.parked = true;
    return lane.queue.splice(0);
  }

  isParked(entry: FlightEntry): boolean {
    return this.#byNumber.get(entry.lane)?.parked === true;
  }

  unpark(): void {
    for (const lane of this.#lanes.values()) {
      lane.parked = false;
      this.#dropEmpty(lane);
    }
  }

  *#takable(now: number): Generator<FlightEntry> {
    if (this.#standsStill) return;
    for (const lane of this.#lanes.values()) {
      if (lane.writing > 0 || lane.parked || lane.queue.length === 0) continue;
      if ((lane.queue[0] as FlightEntry).retryAt > now) continue;
      yield* this.#prefix(lane, now);
    }
  }

  *#prefix(lane: Lane, now: number): Generator<FlightEntry> {
    let limit: SequenceNumber | null = null;
    for (const sequences of [lane.awaited, lane.expected]) {
      for (const sequence of sequences) if (limit === null || sequence < limit) limit = sequence;
    }
    for (const entry of lane.queue) {
      if (limit !== null && entry.sequence > limit) return;
      if (entry.retryAt > now) return;
      yield entry;
      if (!this.#wholeLane) return;
    }
  }

  #moveBack(lane: Lane): void {
    this.#lanes.delete(lane.key);
    this.#lanes.set(lane.key, lane);
  }

  #laneOf(entry: FlightEntry): Lane {
    const key = this.#keyOf(entry);
    const known = this.#lanes.get(key);
    if (known !== undefined) return known;
    const lane: Lane = { number: this.#next, key, queue: [], writing: 0, awaited: new Set(), expected: new Set(), parked: false };
    this.#next += 1;
    this.#lanes.set(key, lane);
    this.#byNumber.set(lane.number, lane);
    return lane;
  }

  #dropEmpty(lane: Lane): void {
    if (lane.queue.length > 0 || lane.writing > 0 || lane.awaited.size > 0 || lane.expected.size > 0 || lane.parked) return;
    this.#lanes.delete(lane.key);
    this.#byNumber.delete(lane.number);
  }
}
