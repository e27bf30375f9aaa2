import type { Envelope } from "../envelope/envelope.js";
import type { SinkError } from "../error/errors.js";
import type { AckSubject } from "../source/ack-subject.js";
import type { SequenceNumber } from "../source/sequence.js";

/** Where an entry stands; `held` is FW-RUN-38, `gone` is out of the flight, everything else moves by itself. */
export type EntryState = "waiting" | "writing" | "held" | "settling" | "gone";

/**
 * One message held by the runner. Mutable on purpose: the flight is the single place of state (design), decisions are
 * functions of what stands here. One is made for every message, so nothing is built on the way to it.
 */
export class FlightEntry {
  readonly sequence: SequenceNumber;
  /** Null while held without its body (the stream still has it), and once it is stored. */
  envelope: Envelope | null;
  /** Newest ack subject of this sequence; an outcome settles with it only (FW-RUN-37). */
  position: AckSubject;
  readonly bytes: number;
  /** Epoch of the newest delivery; an entry of an older one is written, never settled (FW-RUN-33). */
  epoch: number;
  state: EntryState = "waiting";
  lane = 0;
  /** Monotonic ms of arrival. */
  readonly arrivedAt: number;
  /** Monotonic ms until which the server keeps the message leased to us. */
  leaseUntil = 0;
  nextBeatAt = 0;
  beats = 0;
  /** Its lease ran out at some time: the server may have delivered it again. */
  late = false;
  /** Monotonic ms before which it must not be tried again; 0 when it may. */
  retryAt = 0;
  /** Written alone, because a batch with it was refused as a whole by an unsafe sink (FW-ERR-03). */
  single = false;
  /** Why a gate rejects this message before any write; null when it may be written. */
  rejection: SinkError | null = null;
  /** Its rejection was lifted so that it is attempted: no gate has let it pass yet. */
  unjudged = false;
  lastError: SinkError | null = null;
  heldReason: "retry_exhausted" | "permanent" | "parked" | null = null;
  /** Held, and asked for by a repair: it comes back as soon as its body is read. */
  resumed = false;
  /** Its last heartbeat could not be sent. */
  unbeaten = false;

  /** `arrivedAt` is monotonic, in ms; the lease begins by `Leases.renew`. */
  constructor(envelope: Envelope, position: AckSubject, bytes: number, epoch: number, arrivedAt: number) {
    this.sequence = position.sequence;
    this.envelope = envelope;
    this.position = position;
    this.bytes = bytes;
    this.epoch = epoch;
    this.arrivedAt = arrivedAt;
  }
}

/**
 * The one table of what is held: by stream sequence, with its room in messages and bytes. What is known
 * of a message's failures outlives its entry, because a nak'd message comes back (FW-RUN-20).
 */
export class Flight {
  readonly #entries = new Map<SequenceNumber, FlightEntry>();
  readonly #failures = new Map<SequenceNumber, number>();
  readonly #alone = new Set<SequenceNumber>();
  readonly #rememberedFailures: number;
  #bytes = 0;
  #held = 0;

  constructor(rememberedFailures = 100_000) {
    this.#rememberedFailures = rememberedFailures;
  }

  /** Messages that count against the limits: everything fetched and unsettled but the held ones (FW-RUN-08). */
  get messages(): number {
    return this.#entries.size - this.#held;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get held(): number {
    return this.#held;
  }

  get size(): number {
    return this.#entries.size;
  }

  /** Entries whose settlement has not begun, the held ones included, of deliveries up to this consumer sequence. */
  unsettled(delivered: SequenceNumber): number {
    let count = 0;
    for (const { state, position } of this.#entries.values()) {
      // The server counts a delivery; a message brought back after its last one is none (its consumer sequence is 0).
      const { consumerSequenceNumber } = position;
      if (state !== "settling" && consumerSequenceNumber > 0 && consumerSequenceNumber <= delivered) count += 1;
    }
    return count;
  }

  /** Messages that failed here and were given back: they come again after their delay. */
  get givenBack(): number {
    let count = 0;
    for (const sequence of this.#failures.keys()) if (!this.#entries.has(sequence)) count += 1;
    return count;
  }

  /** Lowest sequence of a held message; null without one. */
  get oldestHeld(): SequenceNumber | null {
    let oldest: SequenceNumber | null = null;
    if (this.#held === 0) return oldest;
    for (const { state, sequence } of this.#entries.values()) {
      if (state === "held" && (oldest === null || sequence < oldest)) oldest = sequence;
    }
    return oldest;
  }

  /** Time since the oldest entry came, held ones included; 0 without one. */
  oldestAge(now: number): number {
    const oldest = this.#entries.values().next();
    return oldest.done ? 0 : Math.max(0, now - oldest.value.arrivedAt);
  }

  get(sequence: SequenceNumber): FlightEntry | undefined {
    return this.#entries.get(sequence);
  }

  entries(): IterableIterator<FlightEntry> {
    return this.#entries.values();
  }

  /** Takes a message in; the sequence must not be here already. */
  admit(entry: FlightEntry): void {
    this.#entries.set(entry.sequence, entry);
    this.#bytes += entry.bytes;
  }

  /** Lets an entry go; its failure count stays until `forget`. */
  release(entry: FlightEntry): void {
    if (entry.state === "gone") return;
    this.#entries.delete(entry.sequence);
    if (entry.state === "held") this.#held -= 1;
    else this.#bytes -= entry.bytes;
    entry.state = "gone";
  }

  /** Moves an entry out of the limits: kept, leased, not in anybody's way. */
  hold(entry: FlightEntry, reason: NonNullable<FlightEntry["heldReason"]>): void {
    if (entry.state === "held" || entry.state === "gone") return;
    entry.state = "held";
    entry.heldReason = reason;
    this.#held += 1;
    this.#bytes -= entry.bytes;
  }

  /** Brings a held entry back among the waiting ones. */
  unhold(entry: FlightEntry): void {
    if (entry.state !== "held") return;
    entry.state = "waiting";
    entry.heldReason = null;
    this.#held -= 1;
    this.#bytes += entry.bytes;
  }

  /** Budgeted failures of a message in this process so far. */
  failures(sequence: SequenceNumber): number {
    return this.#failures.get(sequence) ?? 0;
  }

  /** Adds a budgeted failure and returns the new count. */
  fail(sequence: SequenceNumber): number {
    const count = this.failures(sequence) + 1;
    this.#failures.delete(sequence);
    this.#failures.set(sequence, count);
    if (this.#failures.size > this.#rememberedFailures) {
      const oldest = this.#failures.keys().next();
      if (!oldest.done) this.#failures.delete(oldest.value);
    }
    return count;
  }

  /** An unsafe sink refused it as part of a batch: it is written alone from now on, also when it comes again (FW-ERR-03). */
  writeAlone(entry: FlightEntry): void {
    this.#alone.add(entry.sequence);
    entry.single = true;
  }

  /** True when this sequence must be written alone. */
  isAlone(sequence: SequenceNumber): boolean {
    return this.#alone.size > 0 && this.#alone.has(sequence);
  }

  /** Takes every entry out, for another epoch: what is being written ends by itself and is not settled. */
  clear(): FlightEntry[] {
    const entries = [...this.#entries.values()];
    for (const entry of entries) entry.state = "gone";
    this.#entries.clear();
    this.#failures.clear();
    this.#alone.clear();
    this.#bytes = 0;
    this.#held = 0;
    return entries;
  }

  /** True while this very entry is held here, not a later one of the same sequence. */
  has(entry: FlightEntry): boolean {
    return entry.state !== "gone";
  }

  /** Forgets what is remembered of a message that was acked or dead-lettered. */
  forget(sequence: SequenceNumber): void {
    if (this.#failures.size > 0) this.#failures.delete(sequence);
    if (this.#alone.size > 0) this.#alone.delete(sequence);
  }
}
