import type { WriteOutcome } from "../connector/sink.js";
import { buildDeadLetter, type DeadLetter, type DeadLetterContent } from "../dead-letter/form.js";
import type { DeadLetters } from "../dead-letter/publisher.js";
import { isErrorKind, RetryExhaustedError, type SinkError, type SinksError } from "../error/errors.js";
import { toSinkError } from "../error/to-sink-error.js";
import type { Telemetry } from "../telemetry/port.js";
import { backoffDelay, nakDelay } from "./backoff.js";
import type { Counters } from "./counters.js";
import { countFailure } from "./failure-counts.js";
import type { Flight, FlightEntry } from "./flight.js";
import type { Lanes } from "./lanes.js";
import type { MassRejection } from "./mass-rejection.js";
import { MessageReports } from "./message-reports.js";
import type { PipelineSettings } from "./pipeline-settings.js";
import type { Settlement } from "./settle.js";
import { decideVerdict, isBudgeted, type Verdict } from "./verdict.js";

/** What carrying out a verdict works on. */
export interface OutcomeParts {
  readonly flight: Flight;
  readonly lanes: Lanes;
  readonly settlement: Settlement;
  /** Null with dead letters off. */
  readonly deadLetters: DeadLetters | null;
  readonly deadLetterContent: DeadLetterContent;
  /** Null without `dead_letter.max_ratio`. */
  readonly massRejection: MassRejection | null;
  readonly counters: Counters;
  readonly settings: PipelineSettings;
  readonly sinkName: string;
  readonly telemetry: Telemetry;
  readonly now: () => number;
  readonly random: () => number;
  /** Told of confirmed acknowledgements. */
  readonly acknowledged: (entries: readonly FlightEntry[]) => void;
  /** Aborts when the process is about to leave. */
  readonly signal: AbortSignal;
}

/** What only the pipeline as a whole can do. */
export interface OutcomeEffects {
  /** The destination is away. */
  trip(error: SinksError): void;
  /** `at` is the message that is the reason, where a single one is. */
  pause(reason: string, at?: FlightEntry): void;
  /** A message was put aside; its body may go. */
  held(entry: FlightEntry): void;
  /** Room or a lane came free. */
  changed(): void;
}

/** Wait before a sink that attempted none of a batch is given it again. */
const leastRestMs = 10;

/** Carries out verdicts: one place where an outcome becomes an ack, a nak, a retry, a dead letter or a held message. */
export class OutcomeActions {
  readonly #parts: OutcomeParts;
  readonly #effects: OutcomeEffects;
  readonly #reports: MessageReports;

  constructor(parts: OutcomeParts, effects: OutcomeEffects) {
    this.#parts = parts;
    this.#effects = effects;
    this.#reports = new MessageReports(parts.telemetry, parts.now);
  }

  /** Every entry is durable. */
  applyStored(entries: readonly FlightEntry[]): void {
    const { flight } = this.#parts;
    const here = entries.every((entry) => flight.has(entry)) ? entries : entries.filter((entry) => flight.has(entry));
    if (here.length > 0) this.#store(here);
    this.#effects.changed();
  }

  /** One outcome per entry, in order; `safe` says whether an unknown outcome may be repeated. */
  apply(entries: readonly FlightEntry[], outcomes: readonly WriteOutcome[], safe: boolean): void {
    const { flight } = this.#parts;
    const stored: FlightEntry[] = [];
    const restUntil = this.#restUntil(outcomes);
    for (let index = 0; index < entries.length; index += 1) {
      const entry = entries[index] as FlightEntry;
      // Another epoch began meanwhile: written, never settled (FW-RUN-33).
      if (!flight.has(entry)) continue;
      const outcome = outcomes[index] as WriteOutcome;
      entry.retryAt = restUntil;
      if (outcome === null) stored.push(entry);
      else this.#fail(entry, outcome, safe);
    }
    if (stored.length > 0) this.#store(stored);
    this.#effects.changed();
  }

  /** The whole batch was refused by a sink that may not be asked for parts of it: each message alone, later. */
  applyIndivisible(entries: readonly FlightEntry[]): void {
    const { settings, settlement, flight, lanes, telemetry } = this.#parts;
    telemetry.count("batch_splits_total");
    for (const entry of entries) {
      if (!flight.has(entry)) continue;
      flight.writeAlone(entry);
      const keep = settings.ordered || this.isLastDelivery(entry) || !settlement.giveBack(entry, 1);
      if (keep) this.again(entry);
      else {
        flight.release(entry);
        lanes.settleWrite(entry);
      }
    }
    this.#effects.changed();
  }

  /** Takes a new message in; behind poison it is parked at once (FW-RUN-36). */
  arrive(entry: FlightEntry): void {
    const { lanes } = this.#parts;
    lanes.add(entry);
    if (!lanes.isParked(entry)) return;
    lanes.remove(entry);
    this.#park(entry);
  }

  /** Back among the waiting, ahead of nothing it was behind before. */
  again(entry: FlightEntry): void {
    const { lanes } = this.#parts;
    entry.state = "waiting";
    if (lanes.isParked(entry)) this.#park(entry);
    else lanes.add(entry);
    lanes.settleWrite(entry);
  }

  /** A write that does not end: its messages are left to redelivery, and their lanes wait for them (FW-RUN-16). */
  abandon(entries: readonly FlightEntry[]): void {
    const { flight, lanes } = this.#parts;
    for (const entry of entries) {
      if (!flight.has(entry)) continue;
      this.giveBackLater(lanes.loseLease(entry));
      flight.release(entry);
    }
  }

  /** An abandoned write has ended after all: its lanes are free for what comes again. */
  endAbandoned(entries: readonly FlightEntry[]): void {
    for (const entry of entries) this.#parts.lanes.settleWrite(entry);
    this.#effects.changed();
  }

  /** Gives back what is not started, for a stop: never a last delivery, which nothing would bring again. */
  giveBack(entries: readonly FlightEntry[]): void {
    const { settlement, flight, lanes } = this.#parts;
    for (const entry of entries) {
      if (this.isLastDelivery(entry)) continue;
      // Whether or not the server hears of it now: after a pause it has to come again before anything later.
      lanes.miss(entry);
      lanes.remove(entry);
      if (flight.has(entry)) settlement.giveBack(entry, 0);
      flight.release(entry);
    }
  }

  #store(entries: readonly FlightEntry[]): void {
    const { counters, lanes, settings } = this.#parts;
    const now = this.#parts.now();
    counters.stored += entries.length;
    this.#parts.massRejection?.stored(entries.length);
    let late = 0;
    for (const entry of entries) {
      entry.state = "settling";
      // The sink has it: nothing asks for the body any more, and an ack may take its time.
      entry.envelope = null;
      if (entry.late || now > entry.leaseUntil) late += 1;
      if (settings.ordered) lanes.settleWrite(entry);
    }
    if (late > 0) this.#parts.telemetry.count("late_acks_total", late);
    void this.#acknowledge(entries, false);
  }

  async #acknowledge(entries: readonly FlightEntry[], terminate: boolean): Promise<void> {
    const { settlement, flight } = this.#parts;
    const confirmed = await (terminate ? settlement.terminate(entries) : settlement.acknowledge(entries));
    if (confirmed) this.#parts.acknowledged(entries);
    for (const entry of entries) {
      if (!flight.has(entry)) continue;
      flight.release(entry);
      flight.forget(entry.sequence);
    }
    this.#effects.changed();
  }

  /** A sink that attempted nothing at all is not asked again at once; 0 when it attempted something. */
  #restUntil(outcomes: readonly WriteOutcome[]): number {
    const { settings, now } = this.#parts;
    if (outcomes.length === 0 || !outcomes.every((outcome) => isErrorKind(outcome, "NotAttemptedError"))) return 0;
    return now() + Math.max(leastRestMs, settings.retry.baseMs);
  }

  #fail(entry: FlightEntry, outcome: SinkError, safe: boolean): void {
    const { flight, settings } = this.#parts;
    const facts = { failures: flight.failures(entry.sequence), deliveryCount: entry.position.count, safe };
    const verdict = decideVerdict(outcome, facts, settings.verdict);
    entry.lastError = outcome;
    countFailure(this.#parts.telemetry, outcome, entry.rejection);
    if (isBudgeted(outcome, facts, settings.verdict)) flight.fail(entry.sequence);
    this.#carryOut(entry, outcome, verdict);
  }

  #carryOut(entry: FlightEntry, outcome: SinkError, verdict: Verdict): void {
    switch (verdict.kind) {
      case "stored":
        return this.#store([entry]);
      case "again":
        return this.again(entry);
      case "unavailable":
        this.again(entry);
        return this.#effects.trip(outcome);
      case "retry":
        return this.#retry(entry, verdict.failures, verdict.place);
      case "redeliver":
        this.#parts.telemetry.count("possible_duplicates_total");
        return this.#redeliver(entry, verdict.failures);
      case "dead_letter":
        return void this.#deadLetter(entry, verdict.exhausted ? exhausted(outcome) : outcome);
      case "hold":
        return this.#hold(entry, verdict.exhausted);
      case "pause":
        this.again(entry);
        return this.#effects.pause(`${verdict.reason} (${outcome.code}) at sequence ${entry.sequence}`, entry);
      case "discard":
        return this.#discard(entry);
    }
  }

  #retry(entry: FlightEntry, failures: number, place: "in_place" | "nak" | "leave"): void {
    const { counters, settings, random, now, flight, lanes, settlement } = this.#parts;
    counters.retried += 1;
    const delay = backoffDelay(settings.retry, failures, random);
    this.#parts.telemetry.observe?.("retry_backoff_delay_seconds", delay / 1000);
    if (place === "in_place") {
      entry.retryAt = now() + Math.max(1, delay);
      return this.again(entry);
    }
    if (place === "nak") settlement.giveBack(entry, nakDelay(delay, settings.deadlines.backoffMs, entry.position.count));
    flight.release(entry);
    lanes.settleWrite(entry);
  }

  #redeliver(entry: FlightEntry, failures: number): void {
    const { lanes } = this.#parts;
    this.giveBackLater(lanes.loseLease(entry));
    this.#retry(entry, failures, "nak");
  }

  /**
   * Later messages of a lane that waits for an earlier one: they come again behind it (FW-RUN-13). A last delivery would
   * not come again: it stays, and waits here.
   */
  giveBackLater(later: readonly FlightEntry[]): void {
    const { flight, settlement, lanes } = this.#parts;
    for (const entry of later) {
      if (this.isLastDelivery(entry)) lanes.add(entry);
      else {
        settlement.giveBack(entry, 0);
        flight.release(entry);
      }
    }
  }

  async #deadLetter(entry: FlightEntry, error: SinksError): Promise<void> {
    const { deadLetters, deadLetterContent, sinkName, signal, flight, lanes, counters, settings, telemetry } = this.#parts;
    if (deadLetters === null || entry.envelope === null) return this.#hold(entry, false);
    if (await this.#isMassRejection(entry)) return;
    let letter: DeadLetter;
    try {
      letter = buildDeadLetter(entry.envelope, error, sinkName, deadLetterContent);
    } catch (fault) {
      telemetry.log("error", "a dead letter cannot be made; the message is held", { code: toSinkError(fault).code });
      return this.#hold(entry, false);
    }
    const result = await deadLetters.publish(letter, signal);
    if (result === "aborted" || !flight.has(entry)) return;
    if (result === "too_large") {
      this.#parts.telemetry.log("error", "a dead letter is too large for its stream; its message is held", {
        stream_sequence: entry.sequence,
      });
      return this.#hold(entry, false);
    }
    counters.deadLettered += 1;
    this.#reports.report("message dead-lettered", entry, error.code);
    entry.state = "settling";
    lanes.settleWrite(entry);
    await this.#acknowledge([entry], settings.terminateDeadLetters);
  }

  /** Judged when the whole batch has its outcomes: its stored messages count, too. Above the ratio the message is kept (FW-DLQ-09). */
  async #isMassRejection(entry: FlightEntry): Promise<boolean> {
    const { massRejection, flight } = this.#parts;
    if (massRejection === null) return false;
    massRejection.rejected();
    await null;
    if (!flight.has(entry)) return true;
    const reason = massRejection.reason();
    if (reason === null) return false;
    this.again(entry);
    this.#effects.pause(reason);
    return true;
  }

  #hold(entry: FlightEntry, retryLater: boolean): void {
    const { flight, settings, now, lanes } = this.#parts;
    const parks = settings.ordered && settings.onPoison === "park_key" && !retryLater;
    if (parks) {
      if (flight.held >= settings.maxParked) {
        this.again(entry);
        return this.#effects.pause("max_parked is reached");
      }
      for (const later of lanes.park(entry)) this.#park(later);
    }
    this.#reports.report("message held", entry, entry.lastError?.code ?? "unexpected");
    flight.hold(entry, retryLater ? "retry_exhausted" : "permanent");
    // What was only not attempted any more is attempted when its time comes.
    if (retryLater && entry.rejection !== null) {
      entry.unjudged = true;
      entry.rejection = null;
    }
    // In an ordered lane a held message keeps its place: nothing overtakes it.
    if (!settings.ordered) lanes.settleWrite(entry);
    entry.retryAt = retryLater ? now() + settings.retry.maxMs : 0;
    this.#effects.held(entry);
  }

  /** Puts a message behind poison aside; more than `max_parked` of them stop the pipeline instead. */
  #park(entry: FlightEntry): void {
    const { flight, lanes, settings } = this.#parts;
    if (flight.held >= settings.maxParked) {
      lanes.add(entry);
      return this.#effects.pause("max_parked is reached");
    }
    flight.hold(entry, "parked");
    this.#effects.held(entry);
  }

  #discard(entry: FlightEntry): void {
    const { counters, lanes, telemetry } = this.#parts;
    counters.discarded += 1;
    telemetry.count("discarded_total");
    this.#reports.report("message discarded", entry, entry.lastError?.code ?? "unexpected");
    entry.state = "settling";
    lanes.settleWrite(entry);
    void this.#acknowledge([entry], false);
  }

  /** True for a delivery behind which the server sends no other. */
  isLastDelivery(entry: FlightEntry): boolean {
    const { maxDeliver } = this.#parts.settings.deadlines;
    return maxDeliver !== null && entry.position.count >= maxDeliver;
  }
}

function exhausted(last: SinkError): SinksError {
  if (isErrorKind(last, "PermanentSinkError") || isErrorKind(last, "RetryExhaustedError")) return last;
  return new RetryExhaustedError(`retries exhausted; the last failure was ${last.name} ${last.code}`, { cause: last });
}
