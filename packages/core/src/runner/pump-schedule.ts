/** What the schedule asks of the pipeline. */
export interface Pumped {
  /** True when the next batch is full already. */
  full(): boolean;
  /** Sends the pulls there is room for. */
  refill(): void;
  /** Closes batches that may go now and refills; `fullOnly` leaves a partial one to grow. */
  pump(fullOnly: boolean): void;
}

/**
 * Turns of the event loop that an unfilled batch may wait while each of them brings messages: a backlog comes in chunks of
 * the socket, and a batch of many chunks costs one write and one confirmation. Sparse traffic waits one empty turn.
 */
const gatheringTurns = 8;

/**
 * When the pump runs. One turn of the event loop may bring dozens of chunks of the socket and last many milliseconds, so full
 * batches and new pulls go after each chunk, for the server to work meanwhile; what is left goes after the turn.
 */
export class PumpSchedule {
  readonly #pumped: Pumped;
  readonly #now: () => number;
  #chunk = false;
  #turn = false;
  #brought = false;
  #gathered = 0;
  #wake: NodeJS.Timeout | null = null;
  #wakeAt = Number.POSITIVE_INFINITY;
  #disposed = false;

  constructor(pumped: Pumped, now: () => number) {
    this.#pumped = pumped;
    this.#now = now;
  }

  /** A message has come. */
  arrived(): void {
    this.#brought = true;
    if (!this.#chunk) {
      this.#chunk = true;
      queueMicrotask(() => this.#afterChunk());
    }
    this.changed();
  }

  /** Something else may let a batch or a pull go. */
  changed(): void {
    if (this.#turn) return;
    this.#turn = true;
    setImmediate(() => this.#afterTurn());
  }

  /** Looks again at a monotonic time in ms; the earliest of several counts. */
  wakeUpAt(at: number): void {
    if (at >= this.#wakeAt && this.#wake !== null) return;
    if (this.#wake !== null) clearTimeout(this.#wake);
    this.#wakeAt = at;
    this.#wake = setTimeout(() => this.#onWake(), Math.max(0, Math.ceil(at - this.#now())));
  }

  /** Nothing runs any more, whatever is still scheduled. */
  dispose(): void {
    this.#disposed = true;
    if (this.#wake !== null) clearTimeout(this.#wake);
  }

  #afterChunk(): void {
    this.#chunk = false;
    if (this.#disposed) return;
    if (this.#pumped.full()) this.#pumped.pump(true);
    else this.#pumped.refill();
  }

  #afterTurn(): void {
    this.#turn = false;
    if (this.#disposed) return;
    const brought = this.#brought;
    this.#brought = false;
    this.#gathered += 1;
    if (brought && this.#gathered < gatheringTurns && !this.#pumped.full()) this.changed();
    else {
      this.#gathered = 0;
      this.#pumped.pump(false);
    }
  }

  #onWake(): void {
    this.#wake = null;
    this.#wakeAt = Number.POSITIVE_INFINITY;
    if (!this.#disposed) this.#pumped.pump(false);
  }
}
