import type { SequenceNumber } from "../source/sequence.js";
import { type BatcherSettings, type Buffered, fitsBatch } from "./batcher.js";
import type { FlightEntry } from "./flight.js";

/** The waiting messages in the order they may go; which of them may go now is the lanes' only question. */
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
}

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

/** `ordering: none`: one queue, first come first served; a delayed message stands aside until its time. */
export class FreeLanes implements Lanes {
  #queue: FlightEntry[] = [];
  #head = 0;
  #bytes = 0;
  readonly #delayed: FlightEntry[] = [];

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
 * waits for its retry, while a sequence it lost is awaited, and beyond the barrier that a restart sets. A lane that had
 * its turn goes behind the others, so that a busy one starves nobody.
 */
export class OrderedLanes implements Lanes {
  readonly #lanes = new Map<string, Lane>();
  readonly #byNumber = new Map<number, Lane>();
  readonly #keyOf: (entry: FlightEntry) => string;
  readonly #wholeLane: boolean;
  #next = 1;
  #barrier: SequenceNumber | null = null;

  /** `wholeLane`: the sink keeps order inside a batch, so a lane may give more than one message to it (FW-RUN-35). */
  constructor(keyOf: (entry: FlightEntry) => string, wholeLane: boolean) {
    this.#keyOf = keyOf;
    this.#wholeLane = wholeLane;
  }

  /** Messages beyond this sequence wait; null lets them go. */
  set barrier(sequence: SequenceNumber | null) {
    this.#barrier = sequence;
  }

  get barrier(): SequenceNumber | null {
    return this.#barrier;
  }

  /** Sequences some lane waits for. */
  awaited(): SequenceNumber[] {
    return [...this.#lanes.values()].flatMap((lane) => [...lane.awaited]);
  }

  /** Deliveries that the server counts and that are not here, by the newest reading of the consumer. */
  elsewhere = 0;

  /** Messages that lanes wait for. */
  get missing(): number {
    return Math.max(this.#barrier === null ? 0 : this.elsewhere, this.awaited().length);
  }

  /** True while some lane waits for a message to come again. */
  get isWaiting(): boolean {
    if (this.#barrier !== null) return true;
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
    this.#barrier = null;
  }

  /**
   * A waiting or failed entry has to come again from the server: its lane waits for it, and gives back its later
   * entries, which come again behind it.
   */
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

  /** The entry has to come again from the server, and nothing later of its lane goes before. */
  miss(entry: FlightEntry): void {
    this.#byNumber.get(entry.lane)?.awaited.add(entry.sequence);
  }

  /** The entry comes back here later and not from the server: its lane waits for it, its later entries stay. */
  expect(entry: FlightEntry): void {
    this.#byNumber.get(entry.lane)?.expected.add(entry.sequence);
  }

  /** The sequence will not come again: its lane goes on. */
  giveUp(sequence: SequenceNumber): void {
    for (const lane of this.#lanes.values()) {
      if (lane.awaited.delete(sequence)) this.#dropEmpty(lane);
    }
  }

  /** Stops the lane of an entry for good (`park_key`) and gives its waiting entries, in order. */
  park(entry: FlightEntry): FlightEntry[] {
    const lane = this.#byNumber.get(entry.lane);
    if (lane === undefined) return [];
    lane.parked = true;
    return lane.queue.splice(0);
  }

  /** True when entries of this lane must be parked rather than written. */
  isParked(entry: FlightEntry): boolean {
    return this.#byNumber.get(entry.lane)?.parked === true;
  }

  /** Opens every parked lane again. */
  unpark(): void {
    for (const lane of this.#lanes.values()) {
      lane.parked = false;
      this.#dropEmpty(lane);
    }
  }

  *#takable(now: number): Generator<FlightEntry> {
    for (const lane of this.#lanes.values()) {
      if (lane.writing > 0 || lane.parked || lane.queue.length === 0) continue;
      if ((lane.queue[0] as FlightEntry).retryAt > now) continue;
      yield* this.#prefix(lane, now);
    }
  }

  *#prefix(lane: Lane, now: number): Generator<FlightEntry> {
    let limit = this.#barrier;
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
