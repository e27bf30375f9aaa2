import type { ConsumerState } from "../source/consumer.js";
import type { SequenceNumber } from "../source/sequence.js";
import type { Flight } from "./flight.js";
import type { Lanes } from "./lanes.js";

const rememberedGivenUp = 1000;

/**
 * What is known of the consumer on the server, kept from every reading: whether its window is full, its ack floor, and
 * whether ordered lanes may go on without the messages they wait for (FW-RUN-13, FW-RUN-38).
 */
export class ConsumerWatch {
  readonly #flight: Flight;
  readonly #lanes: Lanes;
  #info: ConsumerState | null = null;
  #drift: string | null = null;
  #foreignPulls = 0;
  readonly #givenUp: SequenceNumber[] = [];

  constructor(flight: Flight, lanes: Lanes) {
    this.#flight = flight;
    this.#lanes = lanes;
  }

  /** The ack window is used up while messages wait. */
  get windowFull(): boolean {
    const info = this.#info;
    const window = info?.config.max_ack_pending ?? 0;
    return info !== null && window > 0 && info.num_ack_pending >= window && info.num_pending > 0;
  }

  /** As many pulls wait as the consumer takes: the server leaves a further one unanswered. */
  get waitingFull(): boolean {
    const most = this.#info?.config.max_waiting ?? 0;
    return most > 0 && (this.#info?.num_waiting ?? 0) >= most;
  }

  /** Sequences that lanes were let go without, since the last call; the first thousand of them. */
  takeGivenUp(): readonly SequenceNumber[] {
    return this.#givenUp.splice(0);
  }

  /** How the consumer differs from the configuration; null when it does not. */
  get drift(): string | null {
    return this.#drift;
  }

  get newest(): ConsumerState | null {
    return this.#info;
  }

  /**
   * More clients wait on an ordered consumer that cannot pin one of them (2.10): two readings in a row, because a pull
   * may end between the reading and the count.
   */
  get secondClient(): boolean {
    return this.#foreignPulls >= 2;
  }

  /** Takes a reading. Returns true when ordered lanes were let go by it. */
  see(info: ConsumerState, ownPulls: number, drift: string | null = null): boolean {
    this.#info = info;
    this.#drift = drift;
    this.#foreignPulls = info.num_waiting > ownPulls ? this.#foreignPulls + 1 : 0;
    // Entries whose ack is under way are not counted as ours, because the server may have taken it already; nor are
    // deliveries made after the reading. With nothing elsewhere, what lanes wait for has come, or will not come.
    this.#lanes.elsewhere = info.num_ack_pending - this.#flight.unsettled(info.delivered.consumer_seq);
    if (!this.#lanes.isWaiting) return false;
    if (this.#lanes.elsewhere > 0) return false;
    this.#lanes.goOn();
    // What this consumer has not delivered yet is still to come: it may be a new one, behind the old.
    for (const sequence of this.#lanes.awaited()) if (sequence <= info.delivered.stream_seq) this.#giveUp(sequence);
    return true;
  }

  #giveUp(sequence: SequenceNumber): void {
    this.#lanes.giveUp(sequence);
    if (this.#givenUp.length < rememberedGivenUp) this.#givenUp.push(sequence);
  }
}
