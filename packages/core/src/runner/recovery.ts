import { setImmediate as nextTurn } from "node:timers/promises";
import { hasLookup } from "../connector/abilities.js";
import type { Sink } from "../connector/sink.js";
import { isErrorKind, RetryExhaustedError, type SinkError } from "../error/errors.js";
import { toSinkError } from "../error/to-sink-error.js";
import { pause } from "../source/pause.js";
import type { SequenceNumber } from "../source/sequence.js";
import { sequencesOf } from "../source/sequence-ranges.js";
import type { StoredMessage, StoredMessages } from "../source/stored-messages.js";
import type { Telemetry } from "../telemetry/port.js";
import type { Flight, FlightEntry } from "./flight.js";
import type { StrandedAtStart, StrandedMessages } from "./stranded-messages.js";

/** What recovery works on. */
export interface RecoveryParts {
  readonly flight: Flight;
  /** What is not settled yet, with its mark on the consumer. */
  readonly stranded: StrandedMessages;
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
  readonly now: () => number;
  readonly signal: AbortSignal;
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
/** Time after which what is neither settled nor under way is looked at again. */
const lookAgainMs = 30_000;

/**
 * Messages that have used up their deliveries: the server keeps them and never sends them again, so without this nobody would
 * notice (FW-RUN-21). One that the destination has is acknowledged; any other is dead-lettered, or held without dead letters.
 * Before that they are marked on the consumer, because the server itself forgets them: see `StrandedMessages`.
 *
 * At start it is not known which messages between the ack floor and the last delivery are such: they may have been acked out of
 * order. Once nothing is leased any more, those that did not come again are looked up; a sink that cannot answer gets them
 * once more instead where there is no order, because a duplicate is better than a false dead letter.
 */
export class Recovery {
  readonly #parts: RecoveryParts;
  /** Possible ones wait until no delivery is out any more. */
  #waits = false;
  #reached: SequenceNumber[] = [];
  #marking = false;
  #jobs: RecoveryJob[] = [];
  #running = false;
  #generation = 0;
  #lookAgainAt = 0;

  constructor(parts: RecoveryParts) {
    this.#parts = parts;
  }

  /** True while something is still to be looked at. */
  get pending(): boolean {
    return this.#waits || this.#running || this.#marking;
  }

  /** Takes what a start found. */
  begin(found: StrandedAtStart): void {
    const { stranded } = this.#parts;
    stranded.begin(found);
    this.#lookAtAll();
  }

  /** A message was delivered: it is not stranded. */
  came(sequence: SequenceNumber): void {
    this.#parts.stranded.came(sequence);
  }

  /** These are settled, and the server knows it. */
  settled(entries: readonly FlightEntry[]): void {
    const { stranded } = this.#parts;
    if (!stranded.empty) for (const { sequence } of entries) stranded.settle(sequence);
  }

  /**
   * A reading of the consumer: its mark, and the deliveries that the server counts and that are not here. Without any, what did
   * not come will not come.
   */
  see(elsewhere: number, mark: string | null): void {
    const { stranded, now } = this.#parts;
    stranded.see(mark);
    if (stranded.empty) this.#waits = false;
    if (stranded.empty || this.#running) return;
    if (this.#waits && elsewhere <= 0) {
      this.#waits = false;
      this.#look({ sequences: sequencesOf(stranded.possible), certain: false });
    } else if (now() >= this.#lookAgainAt) this.#lookAtAll();
  }

  /** The server said that it gave a message up. */
  reached(sequence: SequenceNumber): void {
    if (this.#parts.flight.get(sequence) === undefined) this.#parts.telemetry.count("max_deliveries_total");
    this.#reached.push(sequence);
    this.#parts.stranded.add(sequence);
    if (!this.#marking) void this.#mark();
  }

  /** Another consumer: what was under way is looked at again. Of another stream it is none of our business. */
  reset(sameStream: boolean): void {
    this.#generation += 1;
    this.#jobs = [];
    this.#lookAgainAt = 0;
    this.#waits = sameStream && this.#parts.stranded.possible.length > 0;
    if (sameStream) return;
    this.#reached = [];
    this.#parts.stranded.forget();
  }

  /** Marks what is not settled, before the process leaves. */
  close(): Promise<void> {
    return this.#parts.stranded.flush();
  }

  #lookAtAll(): void {
    const { stranded } = this.#parts;
    this.#waits = stranded.possible.length > 0;
    if (stranded.certain.size > 0) this.#look({ sequences: [...stranded.certain], certain: true });
  }

  /** Kept before they are taken in; what comes meanwhile goes with the next mark. */
  async #mark(): Promise<void> {
    this.#marking = true;
    for (await nextTurn(); this.#reached.length > 0; ) {
      const sequences = this.#reached;
      this.#reached = [];
      await this.#parts.stranded.kept();
      this.#look({ sequences, certain: true });
    }
    this.#marking = false;
  }

  /** One job after another: they may speak of the same messages. */
  #look(job: RecoveryJob): void {
    this.#lookAgainAt = this.#parts.now() + lookAgainMs;
    this.#jobs.push(job);
    if (!this.#running) void this.#run();
  }

  async #run(): Promise<void> {
    this.#running = true;
    for (let job = this.#jobs.shift(); job !== undefined; job = this.#jobs.shift()) {
      try {
        await this.#do(job, this.#generation);
      } catch (fault) {
        // They stay marked, and are looked at again.
        this.#parts.telemetry.log("error", "stranded messages could not be looked at", { code: toSinkError(fault).code });
      }
    }
    this.#running = false;
  }

  async #do({ sequences, certain }: RecoveryJob, generation: number): Promise<void> {
    let batch: SequenceNumber[] = [];
    for (const sequence of sequences) {
      if (!this.#isOpen(sequence)) continue;
      batch.push(sequence);
      if (batch.length < atOnce) continue;
      await this.#recover(batch, certain, generation);
      batch = [];
    }
    if (batch.length > 0) await this.#recover(batch, certain, generation);
  }

  async #recover(sequences: readonly SequenceNumber[], certain: boolean, generation: number): Promise<void> {
    const { flight, wanted, entryOf, signal, room, stranded } = this.#parts;
    while (flight.messages > 0 && flight.messages + sequences.length > room() && !signal.aborted) await pause(roomWaitMs, signal);
    const messages = await Promise.all(sequences.map((sequence) => this.#find(sequence, generation)));
    if (this.#isOver(generation)) return;
    const entries: FlightEntry[] = [];
    for (const [index, message] of messages.entries()) {
      const sequence = sequences[index] as SequenceNumber;
      // What left the stream is none of ours any more, and what came meanwhile is in good hands.
      if (message === null || !wanted(message.subject)) stranded.settle(sequence);
      else if (this.#isOpen(sequence)) entries.push(entryOf(message));
    }
    if (entries.length > 0) await this.#settle(entries, certain, generation);
  }

  /** Neither settled meanwhile nor in the flight. */
  #isOpen(sequence: SequenceNumber): boolean {
    const { flight, stranded } = this.#parts;
    return stranded.has(sequence) && flight.get(sequence) === undefined;
  }

  async #settle(entries: readonly FlightEntry[], certain: boolean, generation: number): Promise<void> {
    const { telemetry, admit, acknowledge, ordered, stranded } = this.#parts;
    const there = await this.#lookup(entries, generation);
    if (this.#isOver(generation)) return;
    const known = entries.filter((_, index) => there?.[index] === true);
    for (const [index, entry] of entries.entries()) {
      if (there?.[index] === true || !this.#isOpen(entry.sequence)) continue;
      telemetry.log("warn", "a message used up its deliveries", { stream_sequence: entry.sequence });
      const written = !certain && !stranded.certain.has(entry.sequence) && !ordered && there === null;
      // What a gate refuses for good is dead-lettered for that, whatever else became of it.
      if (!written && !isErrorKind(entry.rejection, "PermanentSinkError")) entry.rejection = givenUp();
      admit(entry);
    }
    if (known.length > 0 && (await acknowledge(known))) this.settled(known);
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
