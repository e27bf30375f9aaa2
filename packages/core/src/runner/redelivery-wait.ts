import type { AckSubject } from "../source/ack-subject.js";
import { nextSequence, type SequenceNumber } from "../source/sequence.js";
import type { Lanes } from "./lanes.js";

/**
 * Deliveries that did not arrive: of a process that died, of a connection that broke, of a client that had the pin before
 * us. They come again when their leases end, and nothing may overtake them: ordered lanes stand still until the server
 * counts no delivery that is not here (FW-RUN-13).
 */
export class RedeliveryWait {
  readonly #lanes: Lanes;
  readonly #now: () => number;
  #last: SequenceNumber | null = null;
  #since = 0;

  constructor(lanes: Lanes, now: () => number) {
    this.#lanes = lanes;
    this.#now = now;
  }

  /** Monotonic ms of the newest redelivery, or of the time since when lanes wait for one. */
  get since(): number {
    return this.#since;
  }

  /** Deliveries may be missing from now on. */
  begin(): void {
    this.#lanes.standStill();
    this.#since = this.#now();
  }

  /** Looks at a delivery: the consumer numbers them without a gap, so a gap is a delivery that did not arrive. */
  notice(position: AckSubject): void {
    if (this.#last !== null && position.consumerSequenceNumber > nextSequence(this.#last)) this.begin();
    this.#last = position.consumerSequenceNumber;
    if (position.count > 1) this.#since = this.#now();
  }

  /** Another consumer numbers anew. */
  reset(): void {
    this.#last = null;
  }
}
