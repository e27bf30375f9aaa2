import { type BackoffPolicy, backoffDelay } from "./backoff.js";

/** Where a breaker stands: messages flow, messages are held, or one attempt finds out. */
export type BreakerState = "closed" | "open" | "probing";

/**
 * The breaker of one sink (FW-RUN-19), a state machine without timers: the pipeline asks when to probe and tells what
 * came of it. While it is open nothing is fetched and messages are held under heartbeats; an outage thus uses neither
 * `max_deliver` nor the retry budget.
 */
export class Breaker {
  readonly #policy: BackoffPolicy;
  readonly #random: () => number;
  #state: BreakerState = "closed";
  #failures = 0;
  #probeAt = 0;
  #openedAt = 0;

  constructor(policy: BackoffPolicy, random: () => number) {
    this.#policy = policy;
    this.#random = random;
  }

  get state(): BreakerState {
    return this.#state;
  }

  /** Monotonic ms of the next probe, when open. */
  get probeAt(): number {
    return this.#probeAt;
  }

  /** Monotonic ms at which the outage began, when not closed. */
  get openedAt(): number {
    return this.#openedAt;
  }

  /** A write met an outage. Returns true when this opened the breaker. */
  trip(now: number): boolean {
    if (this.#state === "open") return false;
    const opened = this.#state === "closed";
    if (opened) {
      this.#openedAt = now;
      this.#failures = 0;
    }
    this.#state = "open";
    this.#failures += 1;
    this.#probeAt = now + backoffDelay(this.#policy, this.#failures, this.#random);
    return opened;
  }

  /** Takes the right to probe, once per due time. */
  probe(now: number): boolean {
    if (this.#state !== "open" || now < this.#probeAt) return false;
    this.#state = "probing";
    return true;
  }

  /** A write succeeded. Returns true when this ended an outage. */
  succeed(): boolean {
    const ended = this.#state !== "closed";
    this.#state = "closed";
    this.#failures = 0;
    return ended;
  }
}
