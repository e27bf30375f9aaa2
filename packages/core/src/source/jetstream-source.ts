import { setMaxListeners } from "node:events";
import type { ConsumerInfo, StreamInfo } from "@nats-io/jetstream";
import type { Msg } from "@nats-io/transport-node";
import type { Configuration } from "../config/schema.js";
import { isErrorKind } from "../error/errors.js";
import type { Telemetry } from "../telemetry/port.js";
import type { AckSubject } from "./ack-subject.js";
import { describeApiFault } from "./api-fault.js";
import type { Confirmation } from "./confirmation.js";
import { findConsumer, readStream } from "./consumer.js";
import { EpochGuard } from "./epoch.js";
import { type FetchFacts, FetchTrouble } from "./fetch-trouble.js";
import { replaceHalfOpen } from "./half-open.js";
import { type Link, pinTimeout, pullExpiry, reopenLink } from "./link.js";
import { watchMaxDeliveries } from "./max-deliveries.js";
import { pause } from "./pause.js";
import { publishAll } from "./publish-all.js";
import { Puller } from "./pull.js";
import { isPullForbidden, pullSettings } from "./pull-settings.js";
import { recreateConsumer } from "./recreate.js";
import type { SourceEvents } from "./source-events.js";
import { StoredMessages } from "./stored-messages.js";

const checkPauseMs: { readonly first: number; readonly last: number } = { first: 50, last: 2000 };
const refusedPauseMs = 1000;
const doubtPauseMs = 100;
const idleCheckMs = 30_000;
/** Time without a tick after which the epoch must be read before the next ack. */
const stoodStillMs = 1000;

/**
 * The JetStream side of a running pipeline: pulls, the state of the connection, and the epoch (FW-RUN-06, FW-RUN-33).
 * It decides nothing about messages; it knows the client so that nothing else has to.
 */
export class JetStreamSource {
  readonly #configuration: Configuration;
  readonly #telemetry: Telemetry;
  readonly #events: SourceEvents;
  readonly #now: () => number;
  readonly #closing = new AbortController();
  /** The messages of the stream, read by their sequence. */
  readonly stored: StoredMessages;
  readonly #trouble: FetchTrouble;
  #link: Link;
  #puller: Puller | null = null;
  #guard: EpochGuard;
  #connected = true;
  #generation = 0;
  #checking = false;
  #pausedUntil = 0;
  #pinPullAt = 0;
  #tickedAt: number;
  #verifiedAt: number;
  #parked: { readonly message: Msg; readonly position: AckSubject; readonly bytes: number }[] = [];
  #missing: "stream" | "consumer" | null = null;

  constructor(configuration: Configuration, link: Link, telemetry: Telemetry, events: SourceEvents, now: () => number) {
    setMaxListeners(0, this.#closing.signal);
    this.#configuration = configuration;
    this.#telemetry = telemetry;
    this.#events = events;
    this.#now = now;
    this.#trouble = new FetchTrouble(pullExpiry(configuration) / 2);
    this.#link = link;
    this.stored = new StoredMessages(configuration.nats.stream, () => this.#link, telemetry);
    this.#guard = new EpochGuard(link.bound.stream?.created ?? null, link.bound.consumer.created);
    this.#verifiedAt = now();
    this.#tickedAt = this.#verifiedAt;
  }

  get link(): Link {
    return this.#link;
  }

  get epoch(): EpochGuard {
    return this.#guard;
  }

  /** Counts connections: a change between two readings means that plain acks in between may be lost. */
  get generation(): number {
    return this.#generation;
  }

  get connected(): boolean {
    return this.#connected;
  }

  get openMessages(): number {
    return this.#puller?.messages ?? 0;
  }

  get openBytes(): number {
    return this.#puller?.bytes ?? 0;
  }

  get openPulls(): number {
    return this.#puller?.open ?? 0;
  }

  /** Messages that arrived while the epoch was in doubt and wait for the answer. */
  get parkedMessages(): number {
    return this.#parked.length;
  }

  /** True when a pull may be sent now. */
  get mayPull(): boolean {
    return this.#puller !== null && this.#connected && this.#missing === null && this.#guard.trusted && this.#now() >= this.#pausedUntil;
  }

  /** False while no ack can be sent: without a connection, or with the stream or consumer gone. */
  get maySettle(): boolean {
    return this.#connected && this.#missing === null;
  }

  /** True when this client must go on pulling to keep its pin: what it gives back comes straight back to it (FW-RUN-12). */
  get keepsPin(): boolean {
    return this.#link.group !== null;
  }

  /** What keeps a connected source from fetching. */
  get fetchFacts(): FetchFacts {
    return this.#trouble.facts(this.#now(), this.#puller);
  }

  /** Begins to pull and to watch the connection. */
  start(): void {
    this.#puller = this.#newPuller();
    // A connection that was closed before this has no status to watch any more.
    if (this.#link.connection.isClosed()) void this.#rebuild();
    else void this.#watch(this.#link);
  }

  /**
   * While nothing is fetched a pinned client would lose its pin, and another one would go on with later messages: one
   * message at a time is asked for, seldom enough to add few (FW-RUN-12).
   */
  keepPin(): void {
    if (this.#link.group === null || this.openPulls > 0 || this.#now() < this.#pinPullAt) return;
    this.#pinPullAt = this.#now() + pinTimeout(this.#configuration) / 3;
    this.pull(1, null);
  }

  pull(messages: number, bytes: number | null): void {
    this.#puller?.request(messages, bytes);
  }

  /** Publishes an ack verb for each message; throws when the connection is closed. */
  publish(subjects: readonly string[], verb: string): void {
    publishAll(this.#link.connection, subjects, verb);
  }

  async confirm(subject: string, verb: string, timeoutMs: number): Promise<Confirmation> {
    const confirmation = await this.#link.confirmations.confirm(subject, verb, timeoutMs);
    if (confirmation === "no_responders") this.doubt("no responders to an ack");
    return confirmation;
  }

  /** Resolves when acks may be sent: connected, and the epoch read since the last doubt. False when aborted. */
  async whenSettling(signal: AbortSignal): Promise<boolean> {
    // A lost connection is a doubt, answered only after a reconnect: trusted implies connected.
    if (!this.#guard.trusted) await this.#guard.whenTrusted(signal);
    return !signal.aborted;
  }

  /** Puts the epoch in doubt and has both creation times read again. */
  doubt(reason: string): void {
    this.#guard.doubt();
    this.#telemetry.log("debug", "epoch in doubt", { reason });
    void this.#check();
  }

  /**
   * True when acks may be sent now. A process that stood still for a while cannot know what became of the stream meanwhile:
   * it asks first (FW-RUN-33).
   */
  get trusted(): boolean {
    const now = this.#now();
    if (now - this.#tickedAt >= stoodStillMs) {
      this.#tickedAt = now;
      this.doubt("the process stood still");
    }
    return this.#guard.trusted;
  }

  /** Called now and then: reads the epoch again when no pull has been open for long. */
  tick(now: number): void {
    this.#tickedAt = now;
    this.#trouble.tick(now, this.#guard.trusted);
    if (this.openPulls > 0) this.#verifiedAt = now;
    else if (this.#guard.trusted && now - this.#verifiedAt >= idleCheckMs) {
      this.#verifiedAt = now;
      this.doubt("idle");
    }
  }

  /** The consumer as the server holds it now; null when it is not there. */
  readConsumer(): Promise<ConsumerInfo | null> {
    const { stream, consumer } = this.#configuration.nats;
    return findConsumer(this.#link.manager, stream, consumer);
  }

  /** Waits until open pulls have ended or fallen silent. */
  async quiet(signal: AbortSignal): Promise<void> {
    await this.#puller?.quiet(signal);
  }

  /** Takes back what pulls are still open, at the end of a stop (FW-RUN-34). */
  endPulls(): void {
    this.#puller?.abandon();
  }

  /** Lets a pinned consumer go to the next client at once (FW-RUN-12). */
  async unpin(): Promise<void> {
    const { group, manager } = this.#link;
    if (group === null || this.#puller?.pinned !== true) return;
    const { stream, consumer } = this.#configuration.nats;
    await manager.consumers.unpin(stream, consumer, group);
  }

  /** Sends what is buffered and closes the connection. */
  async dispose(): Promise<void> {
    this.#closing.abort();
    this.#puller?.dispose();
    this.#puller = null;
    this.#link.confirmations.dispose();
    const { connection } = this.#link;
    if (connection.isClosed()) return;
    await Promise.race([connection.flush(), pause(1000, AbortSignal.timeout(1000))]).catch(() => undefined);
    await connection.close();
  }

  #newPuller(): Puller {
    const { stream, consumer } = this.#configuration.nats;
    watchMaxDeliveries(this.#link.connection, stream, consumer, (sequence) => this.#events.givenUp(sequence));
    return new Puller(
      this.#link.connection,
      pullSettings(this.#configuration, this.#link),
      {
        delivered: (message, position, bytes) => this.#receive(message, position, bytes),
        ended: () => this.#events.roomChanged(),
        doubt: (reason) => {
          this.#pausedUntil = this.#now() + doubtPauseMs;
          this.doubt(reason);
        },
        pinned: () => {
          this.#events.pinned();
          this.doubt("pinned");
        },
        tooLarge: () => this.#events.oversized(),
        refused: (limit) => {
          this.#refused(limit);
          this.#telemetry.log("warn", "pull refused by the consumer's limits", { limit });
        },
      },
      this.#now,
    );
  }

  #receive(message: Msg, position: AckSubject, bytes: number): void {
    if (!this.#guard.follows(position.consumerSequenceNumber)) this.doubt("consumer sequence went back");
    if (this.#guard.trusted) this.#events.delivered(message, position, bytes, this.#guard.current);
    else this.#parked.push({ message, position, bytes });
  }

  async #watch(link: Link): Promise<void> {
    for await (const status of link.connection.status()) {
      if (status.type === "disconnect") this.#lost();
      if (status.type === "reconnect") this.#regained();
      if (status.type === "error") this.#connectionError(status.error);
    }
    if (!this.#closing.signal.aborted) await this.#rebuild();
  }

  #connectionError(error: Error): void {
    this.#telemetry.log("warn", "connection error", { error: error.name });
    if (!isPullForbidden(error, this.#configuration)) return;
    this.#refused("no permission to pull");
    this.#puller?.abandon();
  }

  #refused(why: string): void {
    this.#pausedUntil = this.#now() + refusedPauseMs;
    this.#trouble.refused(why, this.#now());
  }

  #lost(): void {
    this.#connected = false;
    this.#generation += 1;
    this.#guard.doubt();
    this.#puller?.abandon();
    this.#events.connection(false);
  }

  #regained(): void {
    this.#connected = true;
    this.#generation += 1;
    this.#events.connection(true);
    this.doubt("reconnect");
  }

  /** A connection that is closed for good is made anew, for as long as the pipeline runs (FW-RUN-06). */
  async #rebuild(): Promise<void> {
    if (this.#connected) this.#lost();
    this.#puller?.dispose();
    let wait = checkPauseMs.first;
    while (!this.#closing.signal.aborted) {
      try {
        const link = await reopenLink(this.#configuration, this.#link);
        if (this.#closing.signal.aborted) return await link.connection.close();
        this.#link = link;
        this.#puller = this.#newPuller();
        void this.#watch(this.#link);
        this.#regained();
        return;
      } catch (error) {
        this.#telemetry.log("warn", "cannot connect again", { error: error instanceof Error ? error.message : "unknown" });
        await pause(wait, this.#closing.signal);
        wait = Math.min(2 * wait, checkPauseMs.last);
      }
    }
  }

  /** Reads both creation times until the newest doubt is answered. */
  async #check(): Promise<void> {
    if (this.#checking) return;
    this.#checking = true;
    let wait = checkPauseMs.first;
    try {
      while (!this.#guard.trusted && !this.#closing.signal.aborted) {
        const answered = this.#connected && (await this.#checkOnce());
        if (answered) wait = checkPauseMs.first;
        else {
          if (this.#connected) await replaceHalfOpen(this.#link.connection, this.#telemetry, this.#closing.signal);
          await pause(wait, this.#closing.signal);
          wait = Math.min(2 * wait, checkPauseMs.last);
        }
      }
    } finally {
      this.#checking = false;
    }
  }

  /** One reading. True when it answered the doubt it was made for. */
  async #checkOnce(): Promise<boolean> {
    const { manager } = this.#link;
    const mark = this.#guard.mark;
    try {
      const stream = await readStream(manager, this.#configuration);
      const consumer = await this.readConsumer();
      if (consumer === null) {
        await this.#consumerGone(stream);
        return false;
      }
      this.#reportMissing(null);
      this.#events.consumerSeen(consumer);
      this.#settle(mark, stream?.created ?? null, consumer.created);
      return true;
    } catch (error) {
      if (isErrorKind(error, "ConfigurationError") && error.code === "stream_missing") this.#reportMissing("stream");
      else this.#telemetry.log("debug", "consumer check failed", { error: describeApiFault(error) });
      return false;
    }
  }

  #settle(mark: number, streamCreatedAt: string | null, consumerCreatedAt: string): void {
    const before = this.#guard.current;
    const changed = this.#guard.settle(mark, streamCreatedAt, consumerCreatedAt);
    const parked = this.#parked;
    if (changed) this.#events.epochChanged(this.#guard.current);
    if (changed || this.#guard.trusted) {
      this.#parked = [];
      // After a change they may belong to either epoch. Of another stream they are dropped; of the same they are written under
      // the old epoch, and so never settled: the server delivers again what is of the new one.
      const sameStream = streamCreatedAt === before.streamCreatedAt;
      if (sameStream) for (const { message, position, bytes } of parked) this.#events.delivered(message, position, bytes, before);
    }
    if (this.#guard.trusted) this.#events.roomChanged();
  }

  async #consumerGone(stream: StreamInfo | null): Promise<void> {
    this.#reportMissing("consumer");
    const { on_consumer_missing: action } = this.#configuration.delivery;
    if (action === "exit") this.#events.failed(`consumer "${this.#configuration.nats.consumer}" is missing`);
    if (action !== "recreate" || stream === null || stream.created !== this.#guard.current.streamCreatedAt) return;
    const { manager, features, group } = this.#link;
    const before = this.#events.beforeRecreation();
    await recreateConsumer(manager, this.#configuration, stream, before, features, group, pinTimeout(this.#configuration));
    this.#telemetry.log("warn", "consumer made again", { acked_below: before.ackedBelow });
  }

  #reportMissing(what: "stream" | "consumer" | null): void {
    if (what === this.#missing) return;
    this.#missing = what;
    this.#events.missing(what);
    if (what === "stream" && this.#configuration.delivery.on_consumer_missing === "exit") {
      this.#events.failed(`stream "${this.#configuration.nats.stream}" is missing`);
    }
  }
}
