import type { ConsumerState } from "../source/consumer.js";
import type { SequenceNumber } from "../source/sequence.js";
import type { Flight } from "./flight.js";
import { OrderedLanes, type Lanes } from "./lanes.js";

/**
 * What is known of the consumer on the server, kept from every reading: whether its window is full, its ack floor, and
 * whether ordered lanes may go on without the messages they wait for (FW-RUN-13, FW-RUN-38).
 */
export class ConsumerWatch {
  readonly #flight: Flight;
  readonly #lanes: Lanes;
  #info: ConsumerState | null = null;

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

  /** The last ack floor seen. */
  get ackFloor(): SequenceNumber {
    return this.#info?.ack_floor.stream_seq ?? 0;
  }

  get newest(): ConsumerState | null {
    return this.#info;
  }

  /** Takes a reading. Returns true when ordered lanes were let go by it. */
  see(info: ConsumerState): boolean {
    this.#info = info;
    if (!(this.#lanes instanceof OrderedLanes) || !this.#lanes.isWaiting) return false;
    // Everything unacknowledged is ours: what the lanes wait for has come, or will not come. Entries whose ack is under
    // way are not counted, because the server may have taken it already.
    if (info.num_ack_pending > this.#flight.unsettled) return false;
    this.#lanes.barrier = null;
    for (const sequence of this.#lanes.awaited()) this.#lanes.giveUp(sequence);
    return true;
  }
}
