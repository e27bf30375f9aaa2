import { type Check, type Envelope, isErrorKind, NotAttemptedError, type Sink, type WriteContext, type WriteOutcome } from "@sinks/core";

/** One message of a write, as a plan sees it. */
export interface Attempt {
  readonly sequence: number;
  readonly subject: string;
  /** How often this sequence has been handed to the sink, this time included. */
  readonly attempt: number;
  readonly deliveryCount: number;
  readonly envelope: Envelope;
}

/** One call of `writeBatch`. */
export interface Write {
  readonly number: number;
  readonly attempts: readonly Attempt[];
  readonly sequences: readonly number[];
  readonly lanes: readonly number[] | null;
  readonly ordered: boolean;
  readonly startedAt: number;
  endedAt: number | null;
  aborted: boolean;
}

/** How a recording sink behaves; without a plan everything is durable at once. */
export interface SinkPlan {
  /** Outcome of one message; asked in order, after `during`. */
  outcome?: (attempt: Attempt) => WriteOutcome;
  /** Runs before outcomes are decided: waits, throws for the whole batch, or hangs. */
  during?: (write: Write, signal: AbortSignal) => Promise<void> | void;
  retrySafety?: "safe" | "unsafe";
  /** The sink keeps the order of a lane inside a batch, and stops a lane at a failure. */
  orderedBatches?: true;
  /** Says whether a sequence is stored already. */
  lookup?: (sequence: number) => boolean;
  healthcheck?: (signal: AbortSignal) => Promise<void>;
  /** The destination's own checks, asked before a start. */
  preflight?: (signal: AbortSignal) => Promise<readonly Check[]>;
  start?: () => Promise<void> | void;
  stop?: () => Promise<void> | void;
}

/** One message that became durable. */
export interface StoredRecord {
  readonly sequence: number;
  readonly subject: string;
  readonly text: string;
  readonly at: number;
}

/**
 * A destination in memory that records everything: what became durable in which order, every write with its messages,
 * and how much was under way at once. All sinks that `create` makes write into the same record.
 */
export class RecordingSink {
  readonly plan: SinkPlan;
  readonly writes: Write[] = [];
  readonly stored: StoredRecord[] = [];
  started = 0;
  stopped = 0;
  peakWrites = 0;
  peakMessages = 0;
  readonly #attempts = new Map<number, number>();
  readonly #copies = new Map<number, number>();
  #writing = 0;
  #messages = 0;

  constructor(plan: SinkPlan = {}) {
    this.plan = plan;
  }

  /** Messages that are inside a write now. */
  get messagesInWrites(): number {
    return this.#messages;
  }

  /** How often a sequence was handed over. */
  attempts(sequence: number): number {
    return this.#attempts.get(sequence) ?? 0;
  }

  /** How often a sequence became durable; more than once is a duplicate. */
  copies(sequence: number): number {
    return this.#copies.get(sequence) ?? 0;
  }

  /** Distinct sequences that are durable. */
  get distinct(): number {
    return this.#copies.size;
  }

  /** Sequences of `from..to` that are not durable. */
  missing(to: number, from = 1): number[] {
    return Array.from({ length: to - from + 1 }, (_, index) => from + index).filter((sequence) => this.copies(sequence) === 0);
  }

  /** Sequences in the order in which they became durable. */
  order(subject?: string): number[] {
    return this.stored.filter((record) => subject === undefined || record.subject === subject).map(({ sequence }) => sequence);
  }

  /** A new sink over this record. */
  readonly create = (): Sink => {
    const { plan } = this;
    const sink: Sink = {
      start: async () => {
        await plan.start?.();
        this.started += 1;
      },
      stop: async () => {
        this.stopped += 1;
        await plan.stop?.();
      },
      writeBatch: (messages, context) => this.#write(messages, context),
    };
    const { retrySafety, healthcheck, lookup, preflight } = plan;
    return Object.assign(
      sink,
      retrySafety === undefined ? {} : { retrySafety: () => retrySafety },
      lookup === undefined
        ? {}
        : { lookup: async (messages: readonly Envelope[]) => messages.map(({ streamSequence }) => lookup(Number(streamSequence))) },
      healthcheck === undefined ? {} : { healthcheck },
      preflight === undefined ? {} : { preflight },
      plan.orderedBatches === undefined ? {} : { orderedBatches: true as const },
    );
  };

  async #write(messages: readonly Envelope[], context: WriteContext): Promise<readonly WriteOutcome[]> {
    const write = this.#begin(messages, context);
    try {
      await this.plan.during?.(write, context.signal);
      return this.#outcomes(write, context);
    } finally {
      write.endedAt = performance.now();
      write.aborted = context.signal.aborted;
      this.#writing -= 1;
      this.#messages -= messages.length;
    }
  }

  #begin(messages: readonly Envelope[], { lanes, ordered }: WriteContext): Write {
    const attempts = messages.map((envelope) => this.#attempt(envelope));
    const write: Write = {
      number: this.writes.length + 1,
      attempts,
      sequences: attempts.map(({ sequence }) => sequence),
      lanes,
      ordered,
      startedAt: performance.now(),
      endedAt: null,
      aborted: false,
    };
    this.writes.push(write);
    this.#writing += 1;
    this.#messages += messages.length;
    this.peakWrites = Math.max(this.peakWrites, this.#writing);
    this.peakMessages = Math.max(this.peakMessages, this.#messages);
    return write;
  }

  #attempt(envelope: Envelope): Attempt {
    const sequence = Number(envelope.streamSequence);
    const attempt = this.attempts(sequence) + 1;
    this.#attempts.set(sequence, attempt);
    return { sequence, subject: envelope.subject, attempt, deliveryCount: envelope.deliveryCount ?? 0, envelope };
  }

  #outcomes(write: Write, { ordered }: WriteContext): WriteOutcome[] {
    const stoppedLanes = new Set<number>();
    return write.attempts.map((attempt, index) => {
      const lane = write.lanes?.[index] ?? 0;
      if (ordered && stoppedLanes.has(lane)) return new NotAttemptedError("an earlier message of this lane failed");
      const outcome = this.plan.outcome?.(attempt) ?? null;
      if (outcome === null) this.#store(attempt);
      else if (!isErrorKind(outcome, "PermanentSinkError")) stoppedLanes.add(lane);
      return outcome;
    });
  }

  #store({ sequence, subject, envelope }: Attempt): void {
    this.#copies.set(sequence, this.copies(sequence) + 1);
    this.stored.push({ sequence, subject, text: Buffer.from(envelope.data).toString("utf8"), at: performance.now() });
  }
}
