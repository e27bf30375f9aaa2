import type { Envelope } from "../envelope/envelope.js";
import type { EnvelopeOrigin } from "../envelope/envelope-origin.js";
import { inspectEnvelope } from "../envelope/message-envelope.js";
import type { Sink, WriteOutcome } from "../connector/sink.js";
import { hasHealthcheck, hasRetrySafety } from "../connector/abilities.js";
import { type SinksError, isErrorKind } from "../error/errors.js";
import { toSinkError } from "../error/to-sink-error.js";
import type { AckSubject } from "../source/ack-subject.js";
import { type ReceivedMessage, envelopeOfDelivery, envelopeOfStored } from "../source/delivery.js";
import type { Epoch } from "../source/epoch.js";
import type { JetStreamSource } from "../source/jetstream-source.js";
import { type ActiveWrite, ActiveWrites } from "./active-writes.js";
import { decideBatch } from "./batcher.js";
import { Breaker } from "./breaker.js";
import type { FlightEntry } from "./flight.js";
import { OrderedLanes } from "./lanes.js";
import { Leases } from "./lease.js";
import { OutcomeActions, type OutcomeParts } from "./outcome-actions.js";
import { planPull } from "./pull-plan.js";
import { type WriteResult, isSafeToRepeat, writeBatch } from "./writer.js";

/** What a pipeline is made of besides the parts its outcomes work on. */
export interface PipelineParts extends OutcomeParts {
  readonly source: JetStreamSource;
  /** The sink now; after a refused login it is another one. */
  readonly sink: () => Sink;
  /** Resolves secrets anew and starts a fresh sink in place of the old one (FW-ERR-01, credentials). */
  readonly renewSink: () => Promise<void>;
  readonly originOf: (epoch: Epoch) => EnvelopeOrigin;
  readonly nowNs: () => bigint;
}

const nothingToWrite: WriteResult = Object.freeze({ kind: "outcomes", outcomes: [] });
const tickMs = 100;
const single = { batchSize: 1, batchMaxBytes: Number.POSITIVE_INFINITY, lingerMs: 0 };
/**
 * Turns of the event loop that an unfilled batch may wait while each of them brings messages: a backlog comes in chunks of
 * the socket, and a batch of many chunks costs one write and one confirmation. Sparse traffic waits one empty turn.
 */
const gatheringTurns = 8;
/** Deliveries after which an unsafe sink gets a message alone (FW-ERR-03). */
const suspectDeliveries = 3;

/**
 * Drives one stream into one sink: deliveries come in, batches go to the sink, outcomes become settlements. Everything
 * it knows of a message stands in the flight; it acts on events (a delivery, an outcome, a tick) and never waits itself.
 */
export class Pipeline {
  readonly #parts: PipelineParts;
  readonly #breaker: Breaker;
  readonly #leases: Leases;
  readonly #writes: ActiveWrites;
  readonly #actions: OutcomeActions;
  readonly #ticker: NodeJS.Timeout;
  #origin: EnvelopeOrigin;
  #wake: NodeJS.Timeout | null = null;
  #wakeAt = Number.POSITIVE_INFINITY;
  #pumping = false;
  #stopping = false;
  #gathered = 0;
  #redeliveredAt = 0;
  #paused: { readonly reason: string; readonly at: number } | null = null;
  #outage: SinksError | null = null;
  #oversized = false;
  /** Both times of this turn of the loop: one reading serves all messages of a chunk. */
  #turn: { readonly at: number; readonly atNs: bigint } | null = null;
  #lastPosition: AckSubject | null = null;

  constructor(parts: PipelineParts) {
    const { settings, random } = parts;
    this.#parts = parts;
    this.#breaker = new Breaker(settings.probe, random);
    this.#leases = new Leases(settings.heartbeat, settings.deadlines);
    this.#writes = new ActiveWrites(settings.maxLeaseMs, settings.abortGraceMs);
    this.#actions = new OutcomeActions(parts, {
      trip: (error) => this.#trip(error),
      pause: (reason) => this.pause(reason),
      held: (entry) => void this.#dropBody(entry),
      changed: () => this.#schedule(),
    });
    this.#origin = parts.originOf(parts.source.epoch.current);
    this.#ticker = setInterval(() => this.#tick(), tickMs);
  }

  get pausedReason(): string | null {
    return this.#paused?.reason ?? null;
  }

  get outage(): SinksError | null {
    return this.#breaker.state === "closed" ? null : this.#outage;
  }

  get stuckWrites(): number {
    return this.#writes.stuck;
  }

  get activeWrites(): number {
    return this.#writes.count;
  }

  /** Messages of the consumer behind the newest delivery; null before the first. */
  get lag(): number | null {
    return this.#lastPosition?.pending ?? null;
  }

  /** Monotonic ms of the newest redelivery; 0 before the first. */
  get redeliveredAt(): number {
    return this.#redeliveredAt;
  }

  /** Takes a delivery in (called by the source). */
  receive(message: ReceivedMessage, position: AckSubject, bytes: number, epoch: Epoch): void {
    const { flight, counters, lanes } = this.#parts;
    this.#lastPosition = position;
    const held = flight.get(position.sequence);
    if (held !== undefined) {
      // Delivered again while still held here: not written again, settled with the newest subject (FW-RUN-37).
      held.position = position;
      held.epoch = epoch.number;
      this.#leases.renew(held, this.#parts.now());
      this.#parts.telemetry.count("redelivered_while_held_total");
      return;
    }
    counters.received += 1;
    if (position.count > 1) this.#redeliveredAt = this.#parts.now();
    this.#turn ??= { at: this.#parts.now(), atNs: this.#parts.nowNs() };
    const { at, atNs } = this.#turn;
    const envelope = envelopeOfDelivery(message, position, this.#origin, atNs);
    const entry = flight.admit({
      envelope,
      position,
      bytes,
      epoch: epoch.number,
      at,
      single: this.#isSuspect(position),
      rejection: inspectEnvelope(envelope),
      leaseMs: this.#leases.deadline(position.count),
      beatMs: this.#leases.interval(position.count),
    });
    lanes.add(entry);
    this.#schedule();
  }

  /** A delivery is larger than any open pull allows. */
  oversized(): void {
    this.#oversized = true;
    this.#schedule();
  }

  /**
   * Another stream or consumer under the old name: nothing fetched before is settled. Of the same stream it is still
   * written (its sequences mean the same messages, and an interest stream may have no other copy); of another stream only
   * what has begun.
   */
  beginEpoch(epoch: Epoch): void {
    const { flight, lanes, telemetry } = this.#parts;
    if (epoch.streamCreatedAt === this.#origin.streamCreatedAt) {
      telemetry.log("warn", "the consumer is a new one; earlier deliveries are written and not settled", { messages: flight.size });
      return this.#schedule();
    }
    const dropped = flight.clear();
    lanes.clear();
    this.#origin = this.#parts.originOf(epoch);
    telemetry.log("warn", "the stream is a new one; earlier deliveries are not settled", { dropped: dropped.length });
    this.#schedule();
  }

  /** Looks again at what may go. */
  changed(): void {
    this.#schedule();
  }

  /** An operator pause (FW-RUN-38): nothing is fetched or written until `resume`. */
  pause(reason: string): void {
    if (this.#paused !== null) return;
    this.#paused = { reason, at: this.#parts.now() };
    this.#parts.telemetry.log("error", "pipeline paused", { reason });
  }

  /** Ends an operator pause and lets parked lanes go again. */
  resume(): void {
    const { lanes, flight } = this.#parts;
    this.#paused = null;
    if (lanes instanceof OrderedLanes) lanes.unpark();
    for (const entry of flight.entries()) if (entry.heldReason === "parked" || entry.heldReason === "permanent") void this.#unhold(entry);
    this.#schedule();
  }

  /** No new pulls; partial batches close at once. */
  stopPulling(): void {
    this.#stopping = true;
    this.#schedule();
  }

  /** True when nothing but held messages is left here. */
  get drained(): boolean {
    return this.#parts.flight.messages === 0 && this.#writes.count === 0 && this.#parts.source.parkedMessages === 0;
  }

  /** Gives back what is unstarted (FW-RUN-28). */
  giveBackUnstarted(): void {
    this.#actions.giveBack(this.#parts.lanes.waiting());
  }

  /** Gives back the held ones, at the end. */
  giveBackHeld(): void {
    this.#actions.giveBack([...this.#parts.flight.entries()].filter((entry) => entry.state === "held"));
  }

  abortWrites(): void {
    this.#writes.abortAll(this.#parts.now());
  }

  dispose(): void {
    clearInterval(this.#ticker);
    if (this.#wake !== null) clearTimeout(this.#wake);
  }

  #isSuspect(position: AckSubject): boolean {
    if (this.#actions.isSingle(position.sequence)) return true;
    return position.count > suspectDeliveries && !hasRetrySafety(this.#parts.sink());
  }

  /** Runs the pump once after the events of this turn of the loop. */
  #schedule(): void {
    if (this.#pumping) return;
    this.#pumping = true;
    setImmediate(() => {
      this.#pumping = false;
      const brought = this.#turn !== null;
      this.#turn = null;
      if (brought && this.#gathers()) {
        this.#refill();
        this.#schedule();
      } else this.#pump();
    });
  }

  /** True while it pays to wait for the next chunk of a stream of messages. */
  #gathers(): boolean {
    const { lanes, settings } = this.#parts;
    this.#gathered += 1;
    if (this.#gathered >= gatheringTurns) return false;
    return lanes.ready(this.#parts.now(), settings.batcher).messages < settings.batcher.batchSize;
  }

  #pump(): void {
    this.#gathered = 0;
    const now = this.#parts.now();
    if (this.#paused === null) {
      this.#closeBatches(now);
      this.#probe(now);
    }
    this.#refill();
  }

  #closeBatches(now: number): void {
    const { lanes, settings } = this.#parts;
    for (;;) {
      const batcher = this.#breaker.state === "probing" && !hasHealthcheck(this.#parts.sink()) ? single : settings.batcher;
      const free = this.#freeSlots();
      if (free <= 0) break;
      const decision = decideBatch(batcher, lanes.ready(now, batcher), free, now, this.#stopping);
      if (decision.kind === "look_at") this.#wakeUpAt(decision.at);
      if (decision.kind !== "close") break;
      const batch = lanes.take(now, batcher);
      if (batch.length === 0) break;
      void this.#write(batch);
    }
    const next = lanes.nextAt(now);
    if (next !== null) this.#wakeUpAt(next);
  }

  /** None while the breaker is open, one in all while it probes. */
  #freeSlots(): number {
    const { state } = this.#breaker;
    if (state === "open") return 0;
    return (state === "probing" ? 1 : this.#parts.settings.slots) - this.#writes.count;
  }

  #refill(): void {
    const { source, flight, settings, lanes } = this.#parts;
    if (this.#stopping || !source.mayPull) return;
    if (this.#paused !== null || this.#breaker.state !== "closed" || this.#heldTooMany()) return source.keepPin();
    // A lane that waits for a redelivery must be able to get it, however full the flight is (FW-RUN-13).
    const kept = lanes instanceof OrderedLanes && lanes.isWaiting ? settings.batcher.batchSize : 0;
    for (;;) {
      const plan = planPull({
        messages: settings.maxMessages + kept - flight.messages - source.parkedMessages,
        bytes: settings.maxBytes - flight.bytes,
        openMessages: source.openMessages,
        openBytes: source.openBytes,
        batchSize: settings.batcher.batchSize,
        batchMaxBytes: settings.batcher.batchMaxBytes,
        minimumBytes: settings.minimumPullBytes,
        oversized: this.#oversized && flight.messages === 0,
      });
      if (plan === null) return;
      if (plan.bytes === null) this.#oversized = false;
      source.pull(plan.messages, plan.bytes);
    }
  }

  /** Half of the window held: fetching more would only fill it (FW-RUN-38). */
  #heldTooMany(): boolean {
    const { flight, settings } = this.#parts;
    const window = settings.deadlines.maxAckPending;
    return window !== null && flight.held > 0 && flight.held >= window / 2;
  }

  async #write(batch: FlightEntry[]): Promise<void> {
    const write = this.#writes.begin(batch, this.#parts.now());
    let rejected = false;
    for (const entry of batch) {
      entry.state = "writing";
      rejected ||= entry.rejection !== null;
    }
    // What a gate rejected is not written, but keeps its place in its lane until here.
    const entries = rejected ? batch.filter((entry) => entry.rejection === null) : batch;
    const envelopes = entries.map((entry) => entry.envelope as Envelope);
    const result = envelopes.length === 0 ? nothingToWrite : await this.#ask(write, entries, envelopes);
    this.#writes.end(write);
    if (write.abandoned) {
      // Its messages were left to redelivery long ago; only their lanes still wait for this end.
      for (const entry of batch) this.#parts.lanes.settleWrite(entry);
    } else {
      const refused = rejected ? batch.filter((entry) => entry.rejection !== null) : [];
      if (refused.length > 0) this.#actions.apply(refused, refused.map(({ rejection }) => rejection), false);
      if (result.kind === "stored") this.#finishStored(entries);
      else if (result.kind === "outcomes") this.#finish(entries, result.outcomes, envelopes);
      else if (result.kind === "indivisible") this.#actions.applyIndivisible(entries);
      else this.#fault(entries, result.error);
    }
    this.#schedule();
  }

  #ask(write: ActiveWrite, entries: readonly FlightEntry[], envelopes: readonly Envelope[]): Promise<WriteResult> {
    const { settings, telemetry, sink } = this.#parts;
    const context = {
      signal: write.abort.signal,
      ordered: settings.ordered,
      lanes: settings.ordered ? entries.map((entry) => entry.lane) : null,
      onPoison: settings.onPoison,
    };
    return writeBatch(sink(), envelopes, context, telemetry);
  }

  #finishStored(batch: readonly FlightEntry[]): void {
    this.#recover();
    this.#actions.applyStored(batch);
  }

  #finish(batch: readonly FlightEntry[], outcomes: readonly WriteOutcome[], envelopes: readonly Envelope[]): void {
    const failed = outcomes.some((outcome) => outcome !== null);
    const reached = envelopes.length > 0 && !outcomes.some((outcome) => isOutage(outcome));
    if (reached) this.#recover();
    this.#actions.apply(batch, outcomes, failed && isSafeToRepeat(this.#parts.sink(), envelopes));
  }

  #recover(): void {
    if (!this.#breaker.succeed()) return;
    this.#outage = null;
    this.#parts.telemetry.log("info", "destination is back");
  }

  /** The sink or its configuration is at fault: nothing of the batch is settled, the pipeline pauses. */
  #fault(batch: readonly FlightEntry[], error: SinksError): void {
    for (const entry of batch) if (this.#parts.flight.has(entry)) this.#actions.again(entry);
    this.pause(`${error.code}: ${error.message}`);
  }

  #trip(error: SinksError): void {
    this.#outage = error;
    const now = this.#parts.now();
    if (this.#breaker.trip(now)) this.#parts.telemetry.log("warn", "destination unavailable; messages are held", { code: error.code });
    this.#wakeUpAt(this.#breaker.probeAt);
  }

  #probe(now: number): void {
    if (!this.#breaker.probe(now)) {
      if (this.#breaker.state === "open") this.#wakeUpAt(this.#breaker.probeAt);
      return;
    }
    void this.#probeSink();
  }

  async #probeSink(): Promise<void> {
    const { renewSink, sink, settings, lanes, now } = this.#parts;
    try {
      if (isErrorKind(this.#outage, "CredentialsError")) await renewSink();
      const current = sink();
      if (hasHealthcheck(current)) await current.healthcheck(AbortSignal.timeout(settings.abortGraceMs + 1000));
      // With nothing to write the probe itself is the proof; otherwise the next write is.
      if (lanes.ready(now(), settings.batcher).messages === 0) this.#breaker.succeed();
    } catch (error) {
      this.#trip(toSinkError(error));
    }
    this.#schedule();
  }

  /** A held message gives its body back to the stream, which has it as long as the message is not acknowledged. */
  async #dropBody(entry: FlightEntry): Promise<void> {
    const stored = await this.#parts.source.readStored(entry.sequence);
    if (stored !== null && entry.state === "held") entry.envelope = null;
  }

  /** Brings a held message back among the waiting ones, with its body read again where it was dropped. */
  async #unhold(entry: FlightEntry): Promise<void> {
    const { flight, lanes, settings, source, now, telemetry } = this.#parts;
    if (entry.envelope === null) {
      entry.retryAt = now() + settings.retry.maxMs;
      const stored = await source.readStored(entry.sequence);
      if (!flight.has(entry) || entry.state !== "held") return;
      if (stored === null) {
        telemetry.log("warn", "a held message cannot be read from the stream", { stream_sequence: entry.sequence });
        return;
      }
      entry.envelope = envelopeOfStored(stored, entry.position, this.#origin, this.#parts.nowNs());
    }
    const parked = entry.heldReason === "parked";
    flight.unhold(entry);
    entry.retryAt = 0;
    lanes.add(entry);
    if (settings.ordered && !parked) lanes.settleWrite(entry);
    this.#schedule();
  }

  #tick(): void {
    const { flight, now, settings, settlement, source } = this.#parts;
    const at = now();
    this.#leases.tick(flight, at, { extend: (entry) => settlement.extend(entry), lost: (entry) => this.#lostLease(entry) });
    for (const write of this.#writes.tick(at)) for (const entry of write.entries) flight.release(entry);
    for (const entry of [...flight.entries()]) {
      if (entry.heldReason === "retry_exhausted" && entry.retryAt <= at && this.#breaker.state === "closed") void this.#unhold(entry);
    }
    if (this.#paused !== null && at - this.#paused.at >= settings.maxLeaseMs) this.giveBackUnstarted();
    source.tick(at);
    this.#schedule();
  }

  #lostLease(entry: FlightEntry): void {
    const { lanes, flight, telemetry } = this.#parts;
    telemetry.count("lost_leases_total");
    if (!(lanes instanceof OrderedLanes) || entry.state !== "waiting") return;
    const later = lanes.loseLease(entry);
    flight.release(entry);
    this.#actions.giveBackLater(later);
  }

  #wakeUpAt(at: number): void {
    if (at >= this.#wakeAt && this.#wake !== null) return;
    if (this.#wake !== null) clearTimeout(this.#wake);
    this.#wakeAt = at;
    this.#wake = setTimeout(
      () => {
        this.#wake = null;
        this.#wakeAt = Number.POSITIVE_INFINITY;
        this.#pump();
      },
      Math.max(0, Math.ceil(at - this.#parts.now())),
    );
  }
}

function isOutage(outcome: WriteOutcome): boolean {
  return isErrorKind(outcome, "DestinationUnavailableError") || isErrorKind(outcome, "CredentialsError");
}
