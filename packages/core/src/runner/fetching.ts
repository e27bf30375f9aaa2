import type { JetStreamSource } from "../source/jetstream-source.js";
import type { Flight } from "./flight.js";
import { type Lanes, OrderedLanes } from "./lanes.js";
import type { PipelineSettings } from "./pipeline-settings.js";
import { planPull } from "./pull-plan.js";

/** Asks the source for exactly the room there is (FW-RUN-08). */
export class Fetching {
  readonly #source: JetStreamSource;
  readonly #flight: Flight;
  readonly #lanes: Lanes;
  readonly #settings: PipelineSettings;
  #oversized = false;

  constructor(source: JetStreamSource, flight: Flight, lanes: Lanes, settings: PipelineSettings) {
    this.#source = source;
    this.#flight = flight;
    this.#lanes = lanes;
    this.#settings = settings;
  }

  /** The next message is larger than any open pull allows. */
  oversized(): void {
    this.#oversized = true;
  }

  /** Sends the pulls there is room for; `paused` only keeps what a pause must not lose. */
  refill(paused: boolean): void {
    const source = this.#source;
    if (!source.mayPull) return;
    if (paused || this.#heldTooMany()) return source.keepPin();
    for (let plan = this.#plan(); plan !== null; plan = this.#plan()) {
      if (plan.bytes === null) this.#oversized = false;
      source.pull(plan.messages, plan.bytes);
    }
  }

  #plan(): ReturnType<typeof planPull> {
    const { maxMessages, maxBytes, batcher, minimumPullBytes } = this.#settings;
    const source = this.#source;
    // A lane that waits for a redelivery must be able to get it, however full the flight is (FW-RUN-13).
    const kept = this.#lanes instanceof OrderedLanes && this.#lanes.isWaiting ? batcher.batchSize : 0;
    return planPull({
      messages: maxMessages + kept - this.#flight.messages - source.parkedMessages,
      bytes: maxBytes - this.#flight.bytes,
      openMessages: source.openMessages,
      openBytes: source.openBytes,
      batchSize: batcher.batchSize,
      batchMaxBytes: batcher.batchMaxBytes,
      minimumBytes: minimumPullBytes,
      oversized: this.#oversized && this.#flight.messages === 0,
    });
  }

  /** Half of the window held: fetching more would only fill it (FW-RUN-38). */
  #heldTooMany(): boolean {
    const window = this.#settings.deadlines.maxAckPending;
    const { held } = this.#flight;
    return window !== null && held > 0 && held >= window / 2;
  }
}
