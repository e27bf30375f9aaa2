import type { JetStreamSource } from "../source/jetstream-source.js";
import type { Flight } from "./flight.js";
import type { Lanes } from "./lanes.js";
import { longestDeadline, type PipelineSettings } from "./pipeline-settings.js";
import { planPull } from "./pull-plan.js";
import type { RedeliveryWait } from "./redelivery-wait.js";

/** Asks the source for exactly the room there is (FW-RUN-08). */
export class Fetching {
  readonly #source: JetStreamSource;
  readonly #flight: Flight;
  readonly #lanes: Lanes;
  readonly #settings: PipelineSettings;
  readonly #redeliveries: Pick<RedeliveryWait, "since">;
  readonly #now: () => number;
  #oversized = false;
  #askedAt = 0;
  /** What was missing when missing messages were last asked for. */
  #askedFor = 0;

  constructor(
    source: JetStreamSource,
    flight: Flight,
    lanes: Lanes,
    settings: PipelineSettings,
    redeliveries: Pick<RedeliveryWait, "since">,
    now: () => number,
  ) {
    this.#redeliveries = redeliveries;
    this.#now = now;
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
    if (source.openPulls > 0) return;
    this.#askForMissing();
    // A flight without room must not cost the pin.
    source.keepPin();
  }

  /**
   * A lane waits for messages that come again, and the flight is full of later ones: once their leases must have ended, the
   * server sends them before anything new, so exactly as many are asked for as are missing, room or not (FW-RUN-13).
   */
  #askForMissing(): void {
    if (!this.#lanes.isWaiting) return;
    const now = this.#now();
    const { missing: all } = this.#lanes;
    // What was asked for came: then the rest is due as well.
    const due = all < this.#askedFor ? 0 : Math.max(this.#redeliveries.since, this.#askedAt) + longestDeadline(this.#settings.deadlines);
    const { batchSize } = this.#settings.batcher;
    // All that is missing must be here before a lane goes on: as much as another process may have held, beside our own.
    const room = 2 * this.#settings.maxMessages + batchSize - this.#flight.messages;
    const missing = Math.min(all, batchSize, room);
    if (missing < 1 || now < due) return;
    this.#askedAt = now;
    this.#askedFor = all;
    this.#source.pull(missing, null);
  }

  #plan(): ReturnType<typeof planPull> {
    const { maxMessages, maxBytes, batcher, minimumPullBytes } = this.#settings;
    const source = this.#source;
    // The room of what a lane waits for is not given to later messages, or it could not come (FW-RUN-13). A batch may come
    // all the same: what is missing may be due already.
    const reserved = this.#lanes.isWaiting ? Math.max(0, Math.min(this.#lanes.missing, maxMessages - batcher.batchSize)) : 0;
    return planPull({
      messages: maxMessages - reserved - this.#flight.messages - source.parkedMessages,
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
