import type { Sink, WriteOutcome } from "../connector/sink.js";
import type { Envelope } from "../envelope/envelope.js";
import type { EnvelopeOrigin } from "../envelope/envelope-origin.js";
import { inspectEnvelope } from "../envelope/message-envelope.js";
import { parseRfc3339 } from "../envelope/rfc3339.js";
import { isErrorKind, type SinkError, type SinksError } from "../error/errors.js";
import type { ArrivalGate } from "../gate/arrival-gate.js";
import { type AckSubject, ackSubjectOf } from "../source/ack-subject.js";
import { envelopeOfDelivery, envelopeOfStored, headerBlockOf, type ReceivedMessage, storedHeaderBlockOf } from "../source/delivery.js";
import type { Epoch } from "../source/epoch.js";
import type { JetStreamSource } from "../source/jetstream-source.js";
import type { StoredMessage } from "../source/stored-messages.js";
import { type ActiveWrite, ActiveWrites } from "./active-writes.js";
import { decideBatch } from "./batcher.js";
import { Fetching } from "./fetching.js";
import { FlightEntry } from "./flight.js";
import { gateResult } from "./gate-result.js";
import { pauseRemedy } from "./health.js";
import { HeldMessages } from "./held-messages.js";
import { Leases } from "./lease.js";
import { LoopWatch } from "./loop-watch.js";
import { measureWrite } from "./measure-write.js";
import { isOutage, Outage } from "./outage.js";
import { OutcomeActions, type OutcomeParts } from "./outcome-actions.js";
import { PumpSchedule } from "./pump-schedule.js";
import { RedeliveryWait } from "./redelivery-wait.js";
import { isSafeToRepeat, nothingToWrite, type WriteResult, writeBatch } from "./writer.js";

/** What a pipeline is made of besides the parts its outcomes work on. */
export interface PipelineParts extends OutcomeParts {
  readonly source: JetStreamSource;
  /** The sink now; after a refused login it is another one. */
  readonly sink: () => Sink;
  /** Resolves secrets anew and starts a fresh sink in place of the old one (FW-ERR-01, credentials). */
  readonly renewSink: () => Promise<void>;
  readonly gate: ArrivalGate | null;
  readonly originOf: (epoch: Epoch) => EnvelopeOrigin;
  readonly nowNs: () => bigint;
}

const tickMs = 100;
const single = { batchSize: 1, batchMaxBytes: Number.POSITIVE_INFINITY, lingerMs: 0 };
/** Deliveries after which an unsafe sink gets a message alone (FW-ERR-03). */
const suspectDeliveries = 3;

/**
 * Drives one stream into one sink: deliveries come in, batches go to the sink, outcomes become settlements. Everything
 * it knows of a message stands in the flight; it acts on events (a delivery, an outcome, a tick) and never waits itself.
 */
export class Pipeline {
  readonly #parts: PipelineParts;
  readonly #outage: Outage;
  readonly #held: HeldMessages;
  readonly #fetching: Fetching;
  readonly #redeliveries: RedeliveryWait;
  readonly #leases: Leases;
  readonly #writes: ActiveWrites;
  readonly #actions: OutcomeActions;
  readonly #loop: LoopWatch;
  readonly #schedule: PumpSchedule;
  readonly #ticker: NodeJS.Timeout;
  #origin: EnvelopeOrigin;
  #stopping = false;
  #finishing = false;
  #paused: { readonly reason: string; readonly at: number } | null = null;
  /** Both times of this chunk of the socket: one reading serves all of its messages. */
  #chunk: { readonly at: number; readonly atNs: bigint } | null = null;
  #lastPosition: AckSubject | null = null;

  constructor(parts: PipelineParts) {
    const { settings, flight, lanes, source } = parts;
    this.#parts = parts;
    this.#schedule = new PumpSchedule(
      { full: () => this.#isFull(), refill: () => this.#refill(), pump: (full) => this.#pump(full) },
      parts.now,
    );
    const changed = (): void => this.#schedule.changed();
    this.#outage = new Outage({
      ...parts,
      policy: settings.probe,
      healthcheckMs: settings.abortGraceMs + 1000,
      somethingWaits: () => lanes.ready(parts.now(), settings.batcher).messages > 0,
      changed,
      wakeUpAt: (at) => this.#schedule.wakeUpAt(at),
    });
    this.#held = new HeldMessages({
      ...parts,
      ordered: settings.ordered,
      retryMs: settings.retry.maxMs,
      origin: () => this.#origin,
      judge: (envelope) => this.#judge(envelope, undefined),
      changed,
    });
    this.#redeliveries = new RedeliveryWait(lanes, parts.now);
    this.#fetching = new Fetching(source, flight, lanes, settings, this.#redeliveries, parts.now);
    this.#loop = new LoopWatch(parts.telemetry, tickMs, parts.now());
    this.#leases = new Leases(settings.heartbeat, settings.deadlines, settings.ordered);
    this.#writes = new ActiveWrites(settings.maxLeaseMs, settings.abortGraceMs);
    this.#actions = new OutcomeActions(parts, {
      trip: (error) => this.#outage.begin(error),
      pause: (reason, at) => this.pause(reason, at),
      held: (entry) => void this.#held.drop(entry),
      changed,
    });
    this.#origin = parts.originOf(parts.source.epoch.current);
    this.#ticker = setInterval(() => this.#tick(), tickMs);
  }

  get pausedReason(): string | null {
    return this.#paused?.reason ?? null;
  }

  get outage(): SinksError | null {
    return this.#outage.error;
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

  /** Deliveries that are missing and come again. */
  get redeliveries(): RedeliveryWait {
    return this.#redeliveries;
  }

  /** Takes a delivery in (called by the source). */
  receive(message: ReceivedMessage, position: AckSubject, bytes: number, epoch: Epoch): void {
    const { flight, counters } = this.#parts;
    this.#redeliveries.notice(position);
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
    this.#chunk ??= { at: this.#parts.now(), atNs: this.#parts.nowNs() };
    const { at, atNs } = this.#chunk;
    const envelope = envelopeOfDelivery(message, position, this.#origin, atNs);
    const entry = new FlightEntry(envelope, position, bytes, epoch.number, at);
    entry.single = this.#isSuspect(position, envelope);
    entry.rejection = this.#judge(envelope, headerBlockOf(message));
    this.#leases.renew(entry, at);
    flight.admit(entry);
    this.#actions.arrive(entry);
    this.#schedule.arrived();
  }

  /** Makes an entry of a message that is read from the stream; it is nobody's until `admit` (FW-RUN-21). */
  entryOf(stored: StoredMessage): FlightEntry {
    const { settings, source, nowNs, now } = this.#parts;
    const origin = this.#origin;
    const position = ackSubjectOf(
      origin.stream as string,
      origin.consumer as string,
      settings.deadlines.maxDeliver ?? 1,
      stored.seq,
      parseRfc3339(stored.timestamp) ?? 0n,
    );
    const envelope = envelopeOfStored(stored, position, origin, nowNs());
    const entry = new FlightEntry(envelope, position, stored.data.length, source.epoch.current.number, now());
    entry.rejection = this.#judge(envelope, storedHeaderBlockOf(stored));
    return entry;
  }

  /** Takes such an entry in. */
  admit(entry: FlightEntry): void {
    this.#leases.renew(entry, this.#parts.now());
    this.#parts.flight.admit(entry);
    this.#actions.arrive(entry);
    this.#schedule.changed();
  }

  /** A delivery is larger than any open pull allows. */
  oversized(): void {
    this.#fetching.oversized();
    this.#schedule.changed();
  }

  /**
   * Another stream or consumer under the old name: nothing fetched before is settled. Of the same stream it is still
   * written (its sequences mean the same messages, and an interest stream may have no other copy); of another stream only
   * what has begun.
   */
  beginEpoch(epoch: Epoch): void {
    this.#redeliveries.reset();
    const { flight, lanes, telemetry } = this.#parts;
    if (epoch.streamCreatedAt === this.#origin.streamCreatedAt) {
      telemetry.log("warn", "the consumer is a new one; earlier deliveries are written and not settled", { messages: flight.size });
      return this.#schedule.changed();
    }
    const dropped = flight.clear();
    lanes.clear();
    this.#origin = this.#parts.originOf(epoch);
    telemetry.log("warn", "the stream is a new one; earlier deliveries are not settled", { dropped: dropped.length });
    this.#schedule.changed();
  }

  /** Looks again at what may go. */
  changed(): void {
    this.#schedule.changed();
  }

  /** An operator pause (FW-RUN-38): nothing is fetched or written until `resume`. */
  pause(reason: string, at?: FlightEntry): void {
    if (this.#paused !== null) return;
    this.#paused = { reason, at: this.#parts.now() };
    const message = at === undefined ? {} : { stream_sequence: at.sequence, subject: at.envelope?.subject ?? null };
    this.#parts.telemetry.log("error", "pipeline paused", { reason, ...message, remedy: pauseRemedy });
  }

  /** Ends an operator pause and lets parked lanes go again. */
  resume(): void {
    const { lanes } = this.#parts;
    this.#paused = null;
    lanes.unpark();
    this.#held.resume();
    this.#schedule.changed();
  }

  /** No new pulls; partial batches close at once. */
  stopPulling(): void {
    this.#stopping = true;
    this.#schedule.changed();
  }

  /** True when nothing but held messages is left here. */
  get drained(): boolean {
    return this.#parts.flight.messages === 0 && this.#writes.count === 0 && this.#parts.source.parkedMessages === 0;
  }

  /** True when nothing is written and nothing waits to be: what is left here waits for the server. */
  get onlySettles(): boolean {
    return this.#writes.count === 0 && this.#parts.lanes.waiting().length === 0;
  }

  /** No write begins any more; those under way go on. */
  finish(): void {
    this.#finishing = true;
  }

  /** Gives back what is unstarted (FW-RUN-28). With a pull open it would come straight back. */
  giveBackUnstarted(): void {
    this.#actions.giveBack(this.#parts.lanes.waiting());
  }

  /** Gives back the held ones, at the end. */
  giveBackHeld(): void {
    const { flight, counters } = this.#parts;
    counters.held = flight.held;
    this.#actions.giveBack([...flight.entries()].filter((entry) => entry.state === "held"));
  }

  /** Ends every write by its signal; none begins any more. */
  abortWrites(): void {
    this.finish();
    this.#writes.abortAll(this.#parts.now());
  }

  /** Nothing begins any more, whatever is still scheduled. */
  dispose(): void {
    clearInterval(this.#ticker);
    this.#schedule.dispose();
  }

  /** What the gates say of a message, wherever it was read (FW-RUN-10). */
  #judge(envelope: Envelope, block: Uint8Array | null | undefined): SinkError | null {
    const { gate } = this.#parts;
    return gate === null ? inspectEnvelope(envelope) : gate(envelope, block);
  }

  #isSuspect(position: AckSubject, envelope: Envelope): boolean {
    if (this.#parts.flight.isAlone(position.sequence)) return true;
    return position.count > suspectDeliveries && !isSafeToRepeat(this.#parts.sink(), [envelope]);
  }

  /** True when the next batch is full already; asked at the end of each chunk of messages. */
  #isFull(): boolean {
    this.#chunk = null;
    const { lanes, settings, now } = this.#parts;
    return lanes.ready(now(), settings.batcher).messages >= settings.batcher.batchSize;
  }

  #pump(fullOnly: boolean): void {
    const now = this.#parts.now();
    if (this.#paused === null) {
      this.#closeBatches(now, fullOnly);
      this.#outage.tick(now, this.#writes.count > this.#writes.stuck);
    }
    this.#refill();
  }

  #closeBatches(now: number, fullOnly: boolean): void {
    const { lanes, settings } = this.#parts;
    for (;;) {
      const batcher = this.#outage.writesSingly ? single : settings.batcher;
      // A stuck write keeps its slot, but a probe may be written beside it: else an outage would never end.
      const taken = this.#outage.isOver ? this.#writes.count : this.#writes.count - this.#writes.stuck;
      const free = this.#outage.slots(settings.slots) - taken;
      if (free <= 0 || this.#finishing || (fullOnly && !this.#isFull())) break;
      const decision = decideBatch(batcher, lanes.ready(now, batcher), free, now, this.#stopping);
      if (decision.kind === "look_at") this.#schedule.wakeUpAt(decision.at);
      if (decision.kind !== "close") break;
      const batch = lanes.take(now, batcher);
      if (batch.length === 0) break;
      void this.#write(batch);
    }
    const next = lanes.nextAt(now);
    if (next !== null) this.#schedule.wakeUpAt(next);
  }

  #refill(): void {
    if (!this.#stopping) this.#fetching.refill(this.#paused !== null || !this.#outage.isOver);
  }

  async #write(batch: FlightEntry[]): Promise<void> {
    const { ordered, onPoison } = this.#parts.settings;
    const write = this.#writes.begin(batch, this.#parts.now());
    for (const entry of batch) entry.state = "writing";
    const { writable, refused, behind } = gateResult(batch, ordered, onPoison !== "dead_letter_and_continue");
    for (const entry of behind) this.#actions.again(entry);
    const envelopes = writable.map((entry) => entry.envelope as Envelope);
    const result = envelopes.length === 0 ? nothingToWrite : await this.#ask(write, writable, envelopes);
    this.#writes.end(write);
    if (write.abandoned) this.#actions.endAbandoned(batch);
    else {
      const rejections = refused.map(({ rejection }) => rejection);
      if (refused.length > 0) this.#actions.apply(refused, rejections, false);
      if (result.kind === "stored") this.#finishStored(writable);
      else if (result.kind === "outcomes") this.#finish(writable, result.outcomes, envelopes);
      else if (result.kind === "indivisible") this.#actions.applyIndivisible(writable);
      else this.#fault(writable, result.error);
    }
    this.#schedule.changed();
  }

  #ask(write: ActiveWrite, entries: readonly FlightEntry[], envelopes: readonly Envelope[]): Promise<WriteResult> {
    const { settings, telemetry, sink, now } = this.#parts;
    const context = {
      signal: write.abort.signal,
      ordered: settings.ordered,
      lanes: settings.ordered ? entries.map((entry) => entry.lane) : null,
      onPoison: settings.onPoison,
    };
    return measureWrite(writeBatch(sink(), envelopes, context, telemetry), telemetry, now);
  }

  #finishStored(batch: readonly FlightEntry[]): void {
    this.#outage.end();
    this.#actions.applyStored(batch);
  }

  #finish(batch: readonly FlightEntry[], outcomes: readonly WriteOutcome[], envelopes: readonly Envelope[]): void {
    const failed = outcomes.some((outcome) => outcome !== null);
    const reached = !outcomes.some(isOutage) && outcomes.some((outcome) => !isErrorKind(outcome, "NotAttemptedError"));
    if (reached) this.#outage.end();
    this.#actions.apply(batch, outcomes, failed && isSafeToRepeat(this.#parts.sink(), envelopes));
  }

  /** The sink or its configuration is at fault: nothing of the batch is settled, the pipeline pauses. */
  #fault(batch: readonly FlightEntry[], error: SinksError): void {
    for (const entry of batch) if (this.#parts.flight.has(entry)) this.#actions.again(entry);
    this.pause(`${error.code}: ${error.message}`);
  }

  #tick(): void {
    const { flight, now, settings, settlement, source } = this.#parts;
    const at = now();
    this.#loop.tick(at, this.#leases.interval(1));
    this.#leases.tick(flight, at, { extend: (entry) => settlement.extend(entry), lost: (entry) => this.#lostLease(entry) });
    for (const write of this.#writes.tick(at)) this.#actions.abandon(write.entries);
    if (this.#outage.isOver) this.#held.tick(at);
    if (this.#paused !== null && at - this.#paused.at >= settings.maxLeaseMs && !source.keepsPin) this.giveBackUnstarted();
    source.tick(at);
    this.#schedule.changed();
  }

  #lostLease(entry: FlightEntry): void {
    const { lanes, flight, settings, telemetry } = this.#parts;
    telemetry.count("lost_leases_total");
    if (!settings.ordered || entry.state !== "waiting" || this.#actions.isLastDelivery(entry)) return;
    const later = lanes.loseLease(entry);
    flight.release(entry);
    this.#actions.giveBackLater(later);
  }
}
