import { hasLookup } from "../connector/abilities.js";
import type { Sink } from "../connector/sink.js";
import { isErrorKind, RetryExhaustedError, type SinkError } from "../error/errors.js";
import { toSinkError } from "../error/to-sink-error.js";
import { pause } from "../source/pause.js";
import { nextSequence, type SequenceNumber } from "../source/sequence.js";
import type { StoredMessage, StoredMessages } from "../source/stored-messages.js";
import type { Telemetry } from "../telemetry/port.js";
import type { Flight, FlightEntry } from "./flight.js";

/** What recovery works on. */
export interface RecoveryParts {
  readonly flight: Flight;
  readonly stored: Pick<StoredMessages, "find">;
  readonly sink: () => Sink;
  readonly telemetry: Telemetry;
  /** Makes an entry of a stored message that is not in the flight. */
  readonly entryOf: (stored: StoredMessage) => FlightEntry;
  /** Takes such an entry in, to be written or, with a rejection, dead-lettered or held. */
  readonly admit: (entry: FlightEntry) => void;
  /** Acknowledges what the destination has already. */
  readonly acknowledge: (entries: readonly FlightEntry[]) => Promise<boolean>;
  /** True for a subject that the consumer delivers. */
  readonly wanted: (subject: string) => boolean;
  /** With an order nothing old is written over what is newer: what cannot be looked up is not written again. */
  readonly ordered: boolean;
  /** Messages that may be in flight. */
  readonly room: () => number;
  readonly signal: AbortSignal;
}

/** What may have been left behind by an earlier process: everything above `after`, up to `last`. */
export interface RecoveryRange {
  readonly after: SequenceNumber;
  readonly last: SequenceNumber;
}

/** Messages to look at; `certain` when the server will not send them again, else they may have been acknowledged. */
interface RecoveryJob {
  readonly sequences: Iterable<SequenceNumber>;
  readonly certain: boolean;
}

const atOnce = 64;
const roomWaitMs = 50;
/** Pause before a server or a destination that did not answer is asked again. */
const askAgainMs = 500;

/**
 * Messages that have used up their deliveries: the server keeps them and never sends them again, so without this nobody would
 * notice (FW-RUN-21). One that the destination has is acknowledged; any other is dead-lettered, or held without dead letters.
 *
 * At start it is not known which messages between the ack floor and the last delivery are such: they may have been acked out of
 * order. Once nothing is leased any more, those that did not come again are looked up; a sink that cannot answer gets them
 * once more instead where there is no order, because a duplicate is better than a false dead letter.
 */
export class Recovery {
  readonly #parts: RecoveryParts;
  #range: RecoveryRange | null = null;
  readonly #came = new Set<SequenceNumber>();
  #jobs: RecoveryJob[] = [];
  #running = false;
  #generation = 0;

  constructor(parts: RecoveryParts) {
    this.#parts = parts;
  }

  /** True while something is still to be looked at. */
  get pending(): boolean {
    return this.#range !== null || this.#running;
  }

  /** Takes the range that a start found; null when a delivery limit cannot have stranded anything. */
  begin(range: RecoveryRange | null): void {
    this.#range = range !== null && range.last > range.after ? range : null;
  }

  /** A message was delivered: it is not stranded. */
  came(sequence: SequenceNumber): void {
    if (this.#range !== null && sequence <= this.#range.last) this.#came.add(sequence);
  }

  /** Deliveries that the server counts and that are not here: without any, what did not come will not come. */
  see(elsewhere: number): void {
    if (this.#range === null || elsewhere > 0) return;
    const { after, last } = this.#range;
    this.#range = null;
    this.#look({ sequences: this.#uncome(after, last), certain: false });
  }

  /** The server said that it gave a message up. */
  reached(sequence: SequenceNumber): void {
    if (this.#parts.flight.get(sequence) !== undefined) return;
    this.came(sequence);
    this.#parts.telemetry.count("max_deliveries_total");
    this.#look({ sequences: [sequence], certain: true });
  }

  /** Another stream or consumer: what was left behind in the old one is none of its business. */
  reset(): void {
    this.#generation += 1;
    this.#range = null;
    this.#came.clear();
    this.#jobs = [];
  }

  *#uncome(after: SequenceNumber, last: SequenceNumber): Generator<SequenceNumber> {
    for (let sequence = nextSequence(after); sequence <= last; sequence = nextSequence(sequence)) {
      if (!this.#came.delete(sequence)) yield sequence;
    }
    this.#came.clear();
  }

  /** One job after another: they may speak of the same messages. */
  #look(job: RecoveryJob): void {
    this.#jobs.push(job);
    if (!this.#running) void this.#run();
  }

  async #run(): Promise<void> {
    this.#running = true;
    for (let job = this.#jobs.shift(); job !== undefined; job = this.#jobs.shift()) {
      try {
        await this.#do(job, this.#generation);
      } catch (fault) {
        // They stay unacknowledged, and the next start looks again.
        this.#parts.telemetry.log("error", "stranded messages could not be looked at", { code: toSinkError(fault).code });
      }
    }
    this.#running = false;
  }

  async #do({ sequences, certain }: RecoveryJob, generation: number): Promise<void> {
    let batch: SequenceNumber[] = [];
    for (const sequence of sequences) {
      batch.push(sequence);
      if (batch.length < atOnce) continue;
      await this.#recover(batch, certain, generation);
      batch = [];
    }
    await this.#recover(batch, certain, generation);
  }

  async #recover(sequences: readonly SequenceNumber[], certain: boolean, generation: number): Promise<void> {
    const { flight, wanted, entryOf, signal, room } = this.#parts;
    while (flight.messages > 0 && flight.messages + sequences.length > room() && !signal.aborted) await pause(roomWaitMs, signal);
    const messages = await Promise.all(sequences.map((sequence) => this.#find(sequence, generation)));
    if (this.#isOver(generation)) return;
    // What left the stream is none of ours any more, and what came meanwhile is in good hands.
    const left = messages.filter((message) => message !== null && wanted(message.subject)) as StoredMessage[];
    const entries = left.filter(({ seq }) => flight.get(seq) === undefined).map(entryOf);
    if (entries.length > 0) await this.#settle(entries, certain, generation);
  }

  async #settle(entries: readonly FlightEntry[], certain: boolean, generation: number): Promise<void> {
    const { telemetry, admit, acknowledge, flight, ordered } = this.#parts;
    const there = await this.#lookup(entries, generation);
    if (this.#isOver(generation)) return;
    const known = entries.filter((_, index) => there?.[index] === true);
    if (known.length > 0) void acknowledge(known);
    for (const [index, entry] of entries.entries()) {
      if (there?.[index] === true || flight.get(entry.sequence) !== undefined) continue;
      telemetry.log("warn", "a message used up its deliveries", { stream_sequence: entry.sequence });
      const written = !certain && !ordered && there === null;
      // What a gate refuses for good is dead-lettered for that, whatever else became of it.
      if (!written && !isErrorKind(entry.rejection, "PermanentSinkError")) entry.rejection = givenUp();
      admit(entry);
    }
  }

  /** Only the server's word that a message is gone counts as gone: without an answer it is asked again. */
  async #find(sequence: SequenceNumber, generation: number): Promise<StoredMessage | null> {
    while (!this.#isOver(generation)) {
      try {
        return await this.#parts.stored.find(sequence);
      } catch {
        await pause(askAgainMs, this.#parts.signal);
      }
    }
    return null;
  }

  /** Which of them the destination has; null when it cannot say. A destination that is away is asked again. */
  async #lookup(entries: readonly FlightEntry[], generation: number): Promise<readonly boolean[] | null> {
    const { sink, signal, telemetry } = this.#parts;
    const envelopes = entries.flatMap(({ envelope }) => (envelope === null ? [] : [envelope]));
    while (!this.#isOver(generation)) {
      const current = sink();
      if (!hasLookup(current)) return null;
      try {
        return await current.lookup(envelopes, signal);
      } catch (thrown) {
        const error = toSinkError(thrown);
        telemetry.log("warn", "stranded messages could not be looked up", { code: error.code });
        if (isErrorKind(error, "PermanentSinkError")) return null;
        await pause(askAgainMs, signal);
      }
    }
    return null;
  }

  #isOver(generation: number): boolean {
    return this.#parts.signal.aborted || generation !== this.#generation;
  }
}

function givenUp(): SinkError {
  return new RetryExhaustedError("the server delivered it max_deliver times and will not again", { code: "max_deliver_exceeded" });
}
