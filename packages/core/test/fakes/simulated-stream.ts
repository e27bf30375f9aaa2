import type { StoredMsg } from "@nats-io/jetstream";
import type { Msg } from "@nats-io/transport-node";
import type { AckPort } from "../../src/runner/settle.js";
import type { AckSubject } from "../../src/source/ack-subject.js";
import type { Confirmation } from "../../src/source/confirmation.js";
import type { ConsumerState } from "../../src/source/consumer.js";
import type { Epoch } from "../../src/source/epoch.js";
import type { JetStreamSource } from "../../src/source/jetstream-source.js";
import { messageTime, positionOf } from "./positions.js";

interface Pending {
  count: number;
  leaseUntil: number;
}

interface OpenPull {
  messages: number;
  bytes: number;
  readonly until: number;
}

/** Bytes of every message. */
export const messageBytes = 100;
const pullExpiryMs = 1000;

/** What the simulated consumer is configured with. */
export interface SimulatedConsumer {
  readonly ackWaitMs: number;
  readonly maxDeliver: number | null;
}

/**
 * A stream with one consumer in memory, as a pipeline meets it: pulls, leases that run out, delayed naks, a delivery
 * limit, a connection that comes and goes. Time is that of the (fake) timers; the server's own clock may run ahead.
 */
export class SimulatedStream implements AckPort {
  /** Subjects of the messages of this stream, by sequence from 1. */
  subjects: string[] = [];
  readonly acked = new Set<number>();
  /** Given up by the server at the delivery limit. */
  readonly exceeded = new Set<number>();
  /** Ack verbs in the order they came, with the sequence and delivery they name. */
  readonly verbs: string[] = [];
  /** Messages that cannot be read from the stream at present. */
  readonly unreadable = new Set<number>();
  connected = true;
  generation = 1;
  trusted = true;
  /** What the client knows of the epoch. */
  epoch: Epoch = { number: 1, streamCreatedAt: timeOf(1), consumerCreatedAt: timeOf(1) };
  /** Takes what is delivered. */
  deliver: (message: Msg, position: AckSubject, bytes: number, epoch: Epoch) => void = () => undefined;
  /** Told when an ack or TERM takes effect. */
  settled: (sequence: number, verb: string) => void = () => undefined;
  roomChanged: () => void = () => undefined;
  epochChanged: (epoch: Epoch) => void = () => undefined;
  readonly #consumer: SimulatedConsumer;
  readonly #pending = new Map<number, Pending>();
  #pulls: OpenPull[] = [];
  #aheadMs = 0;
  #next = 1;
  #consumerSequence = 0;
  #streamLife = 1;
  #consumerLife = 1;

  constructor(consumer: SimulatedConsumer) {
    this.#consumer = consumer;
  }

  get epochNumber(): number {
    return this.epoch.number;
  }

  /** Creation time of the stream there is now. */
  get streamCreatedAt(): string {
    return timeOf(this.#streamLife);
  }

  /** The stream is deleted and another one made under its name; the client is in doubt at once, and knows more a little later. */
  recreateStream(): void {
    this.#streamLife += 1;
    this.subjects = [];
    this.acked.clear();
    this.exceeded.clear();
    this.recreateConsumer();
  }

  /** The consumer is deleted and made again: it begins with the first message that was not acked. */
  recreateConsumer(): void {
    this.#consumerLife += 1;
    this.#pending.clear();
    this.#pulls = [];
    this.#consumerSequence = 0;
    const first = this.subjects.findIndex((_, index) => !this.acked.has(index + 1));
    this.#next = first < 0 ? this.subjects.length + 1 : first + 1;
    this.trusted = false;
  }

  /** Deliveries made in all. */
  get deliveries(): number {
    return this.#consumerSequence;
  }

  get #now(): number {
    return performance.now() + this.#aheadMs;
  }

  /** Stores a message and returns its sequence. */
  store(subject: string): number {
    this.subjects.push(subject);
    return this.subjects.length;
  }

  subjectOf(sequence: number): string {
    return this.subjects[sequence - 1] as string;
  }

  /** The server's clock runs ahead: leases end before the client thinks they do. */
  hurry(ms: number): void {
    this.#aheadMs += ms;
  }

  disconnect(): void {
    this.connected = false;
    this.trusted = false;
    this.generation += 1;
    this.#pulls = [];
  }

  /** The client is gone and with it its pulls; another one connects. */
  hangUp(): void {
    this.disconnect();
    this.reconnect();
  }

  reconnect(): void {
    this.connected = true;
    this.generation += 1;
    this.#answerDoubt();
  }

  /** Both creation times are read again. */
  #answerDoubt(): void {
    const [streamCreatedAt, consumerCreatedAt] = [timeOf(this.#streamLife), timeOf(this.#consumerLife)];
    if (streamCreatedAt !== this.epoch.streamCreatedAt || consumerCreatedAt !== this.epoch.consumerCreatedAt) {
      this.epoch = { number: this.epoch.number + 1, streamCreatedAt, consumerCreatedAt };
      this.epochChanged(this.epoch);
    }
    this.trusted = true;
    this.roomChanged();
  }

  /** Everything of the stream was settled, or given up by the server. */
  get isDone(): boolean {
    return this.subjects.every((_, index) => this.acked.has(index + 1) || this.exceeded.has(index + 1));
  }

  /** One turn of the server: ends pulls, gives up what was delivered too often, delivers what there is room for. */
  serve(): void {
    if (this.connected && !this.trusted) this.#answerDoubt();
    const open = this.#pulls.filter((pull) => pull.until > performance.now() && pull.messages > 0);
    const ended = open.length < this.#pulls.length;
    this.#pulls = open;
    while (this.#deliverOne()) {
      // One message a turn, until nothing more can go.
    }
    if (ended) this.roomChanged();
  }

  /** The consumer as the server would describe it now. */
  reading(): ConsumerState {
    return {
      num_ack_pending: this.#pending.size,
      num_pending: this.subjects.length - this.#next + 1,
      num_waiting: 0,
      ack_floor: { consumer_seq: 0, stream_seq: this.#ackFloor() },
      delivered: { consumer_seq: this.#consumerSequence, stream_seq: this.#next - 1 },
      config: { max_ack_pending: 1000 },
    } as ConsumerState;
  }

  doubt(): void {
    // The simulated stream is never made again: every doubt is answered at once.
  }

  publish(subjects: readonly string[], verb: string): void {
    if (this.connected) for (const subject of subjects) this.#take(subject, verb);
  }

  async confirm(subject: string, verb: string, timeoutMs: number): Promise<Confirmation> {
    const { connected } = this;
    this.publish([subject], verb);
    await new Promise((resolve) => setTimeout(resolve, connected ? 1 : timeoutMs));
    return connected ? "confirmed" : "timed_out";
  }

  async whenSettling(signal: AbortSignal): Promise<boolean> {
    while (!this.trusted && !signal.aborted) await new Promise((resolve) => setTimeout(resolve, 5));
    return !signal.aborted;
  }

  /** The part of a source that a pipeline uses. */
  get source(): JetStreamSource {
    const stream = this;
    return {
      epoch: {
        get current() {
          return stream.epoch;
        },
      },
      parkedMessages: 0,
      keepsPin: false,
      get mayPull() {
        return stream.connected && stream.trusted;
      },
      get openMessages() {
        return stream.#pulls.reduce((sum, { messages }) => sum + messages, 0);
      },
      get openBytes() {
        return stream.#pulls.reduce((sum, { bytes }) => sum + bytes, 0);
      },
      get openPulls() {
        return stream.#pulls.length;
      },
      pull: (messages: number, bytes: number | null) => {
        stream.#pulls.push({ messages, bytes: bytes ?? Number.POSITIVE_INFINITY, until: performance.now() + pullExpiryMs });
      },
      keepPin: () => undefined,
      tick: () => undefined,
      stored: { read: async (sequence: number) => stream.#stored(sequence) },
    } as unknown as JetStreamSource;
  }

  /** The highest sequence up to which everything that was delivered is settled. */
  #ackFloor(): number {
    const pending = [...this.#pending.keys()];
    return pending.length > 0 ? Math.min(...pending) - 1 : this.#next - 1;
  }

  /** Answers do not come in the order of the questions. */
  async #stored(sequence: number): Promise<StoredMsg | null> {
    await new Promise((resolve) => setTimeout(resolve, (sequence % 3) * 30));
    return this.connected && !this.unreadable.has(sequence)
      ? ({
          subject: this.subjectOf(sequence),
          seq: sequence,
          timestamp: messageTime,
          data: new Uint8Array(1),
          header: undefined,
        } as unknown as StoredMsg)
      : null;
  }

  #deliverOne(): boolean {
    const pull = this.#pulls.find(({ messages, bytes }) => messages > 0 && bytes >= messageBytes);
    if (pull === undefined || !this.connected || !this.trusted) return false;
    const sequence = this.#nextSequence();
    if (sequence === null) return false;
    pull.messages -= 1;
    pull.bytes -= messageBytes;
    const count = (this.#pending.get(sequence)?.count ?? 0) + 1;
    this.#pending.set(sequence, { count, leaseUntil: this.#now + this.#consumer.ackWaitMs });
    this.#consumerSequence += 1;
    const position = positionOf({ sequence, count, consumerSequence: this.#consumerSequence });
    this.deliver(
      { subject: this.subjectOf(sequence), data: new Uint8Array(1), reply: position.text } as Msg,
      position,
      messageBytes,
      this.epoch,
    );
    return true;
  }

  #nextSequence(): number | null {
    const due = [...this.#pending].filter(([, { leaseUntil }]) => leaseUntil <= this.#now).sort(([a], [b]) => a - b);
    for (const [sequence, { count }] of due) {
      if (this.#consumer.maxDeliver === null || count < this.#consumer.maxDeliver) return sequence;
      this.#pending.delete(sequence);
      this.exceeded.add(sequence);
    }
    if (this.#next > this.subjects.length) return null;
    this.#next += 1;
    return this.#next - 1;
  }

  #take(subject: string, verb: string): void {
    const [, , , , count, streamSequence] = subject.split(".");
    const sequence = Number(streamSequence);
    this.verbs.push(`${verb} ${sequence} of delivery ${count}`);
    const pending = this.#pending.get(sequence);
    if (verb === "+ACK" || verb === "+TERM") {
      this.#pending.delete(sequence);
      this.acked.add(sequence);
      this.settled(sequence, verb);
    } else if (pending !== undefined) {
      const delay = /^-NAK(?: \{"delay":(\d+)\})?$/.exec(verb);
      if (verb === "+WPI") pending.leaseUntil = this.#now + this.#consumer.ackWaitMs;
      else if (delay !== null) pending.leaseUntil = this.#now + Number(delay[1] ?? 0) / 1e6;
      else throw new Error(`the server does not know ${verb}`);
    }
  }
}

function timeOf(life: number): string {
  return `2026-01-01T00:00:${String(life % 60).padStart(2, "0")}Z`;
}
