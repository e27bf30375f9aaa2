import { nextSequence, type SequenceNumber } from "../source/sequence.js";
import type { FlightEntry } from "./flight.js";

/** The newest word of the server on what lies behind. */
interface ServerFloor {
  readonly consumer_seq: number;
  readonly stream_seq: number;
}

/**
 * The highest stream sequence below which everything the consumer delivered was acknowledged (FW-RUN-05): the server's ack
 * floor, carried on by our own confirmed acks. Consumer sequences number the deliveries without a gap, so the floor only moves
 * over deliveries that were ours, never over one of another process.
 */
export class AckedFloor {
  readonly #acked = new Map<SequenceNumber, SequenceNumber>();
  readonly #remembered: number;
  #consumer: SequenceNumber = 0;
  #stream: SequenceNumber = 0;

  constructor(remembered = 100_000) {
    this.#remembered = remembered;
  }

  /** The floor; 0 before anything is known. */
  get sequence(): SequenceNumber {
    return this.#stream;
  }

  /** Takes the server's floor, which replaces a lower one of our own. */
  see(floor: ServerFloor): void {
    if (floor.consumer_seq < this.#consumer) return;
    this.#consumer = floor.consumer_seq;
    if (floor.stream_seq > this.#stream) this.#stream = floor.stream_seq;
    for (const sequence of this.#acked.keys()) if (sequence <= this.#consumer) this.#acked.delete(sequence);
    this.#advance();
  }

  /** Notes confirmed acknowledgements. */
  add(entries: readonly FlightEntry[]): void {
    for (const { position, sequence } of entries) this.#acked.set(position.consumerSequenceNumber, sequence);
    this.#advance();
    // Behind a message that is held the floor stands, and acks beyond it would pile up: then the server's floor has to do.
    if (this.#acked.size > this.#remembered) this.#acked.clear();
  }

  /** Another consumer begins to count anew. What is behind in the stream stays behind, unless the stream is another one, too. */
  reset(sameStream: boolean): void {
    this.#acked.clear();
    this.#consumer = 0;
    if (!sameStream) this.#stream = 0;
  }

  #advance(): void {
    for (;;) {
      const next = nextSequence(this.#consumer);
      const sequence = this.#acked.get(next);
      if (sequence === undefined) return;
      this.#acked.delete(next);
      this.#consumer = next;
      if (sequence > this.#stream) this.#stream = sequence;
    }
  }
}
