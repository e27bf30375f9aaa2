import type { SequenceNumber } from "./sequence.js";

/** One life of the stream and of its consumer; a delivery belongs to the epoch it was fetched in (FW-RUN-33). */
export interface Epoch {
  readonly number: number;
  /** RFC 3339, the server's digits; null when it cannot be read and the configuration allows that. */
  readonly streamCreatedAt: string | null;
  readonly consumerCreatedAt: string;
}

/**
 * Keeps the current epoch and whether it may be trusted. After anything that may hide a new stream or consumer it is in
 * doubt, and no ack verb is sent until both creation times have been read again: the server compares only stream name,
 * consumer name and sequence, so an old ack would settle a message of a new stream.
 */
export class EpochGuard {
  #epoch: Epoch;
  #doubts = 0;
  #settledDoubts = 0;
  #lastConsumerSequence: SequenceNumber = 0;
  #waiting: (() => void)[] = [];

  constructor(streamCreatedAt: string | null, consumerCreatedAt: string) {
    this.#epoch = { number: 1, streamCreatedAt, consumerCreatedAt };
  }

  get current(): Epoch {
    return this.#epoch;
  }

  get trusted(): boolean {
    return this.#doubts === this.#settledDoubts;
  }

  /** Puts the epoch in doubt; the returned mark goes to `settle` with what was read after it. */
  doubt(): number {
    this.#doubts += 1;
    return this.#doubts;
  }

  /** Mark of the newest doubt. */
  get mark(): number {
    return this.#doubts;
  }

  /** A consumer sequence not above the last one seen puts the epoch in doubt; returns false then. */
  follows(consumerSequence: SequenceNumber): boolean {
    const follows = consumerSequence > this.#lastConsumerSequence;
    this.#lastConsumerSequence = consumerSequence;
    return follows;
  }

  /** Takes what was read after the doubt `mark`. Returns true when the epoch is a new one. */
  settle(mark: number, streamCreatedAt: string | null, consumerCreatedAt: string): boolean {
    const changed = streamCreatedAt !== this.#epoch.streamCreatedAt || consumerCreatedAt !== this.#epoch.consumerCreatedAt;
    if (changed) {
      this.#epoch = { number: this.#epoch.number + 1, streamCreatedAt, consumerCreatedAt };
      this.#lastConsumerSequence = 0;
    }
    this.#settledDoubts = Math.max(this.#settledDoubts, mark);
    if (this.trusted) this.#release();
    return changed;
  }

  /** Resolves when the epoch may be trusted, or `signal` aborts. */
  async whenTrusted(signal: AbortSignal): Promise<void> {
    while (!this.trusted && !signal.aborted) {
      const { promise, resolve } = pending();
      this.#waiting.push(resolve);
      signal.addEventListener("abort", resolve, { once: true });
      await promise;
      signal.removeEventListener("abort", resolve);
    }
  }

  #release(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const resolve of waiting) resolve();
  }
}

function pending(): { promise: Promise<void>; resolve: () => void } {
  let resolve: () => void = () => undefined;
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}
