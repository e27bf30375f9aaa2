import type { Envelope } from "../envelope/envelope.js";
import type { EnvelopeOrigin } from "../envelope/envelope-origin.js";
import { parseRfc3339 } from "../envelope/rfc3339.js";
import type { SinkError } from "../error/errors.js";
import { envelopeOfStored } from "../source/delivery.js";
import type { StoredMessages } from "../source/stored-messages.js";
import type { Telemetry } from "../telemetry/port.js";
import type { Flight, FlightEntry } from "./flight.js";
import type { Lanes } from "./lanes.js";

/** What keeping held messages needs. */
export interface HeldParts {
  readonly flight: Flight;
  readonly lanes: Lanes;
  readonly source: { readonly stored: Pick<StoredMessages, "read"> };
  readonly telemetry: Telemetry;
  readonly now: () => number;
  readonly nowNs: () => bigint;
  readonly origin: () => EnvelopeOrigin;
  readonly ordered: boolean;
  /** Time between attempts of a retry-exhausted message, ms. */
  readonly retryMs: number;
  /** What the gates say of a message. */
  readonly judge: (envelope: Envelope) => SinkError | null;
  readonly changed: () => void;
}

/** Messages put aside (FW-RUN-38): leased without limit, their bodies given back to the stream, which has them anyway. */
export class HeldMessages {
  readonly #parts: HeldParts;

  constructor(parts: HeldParts) {
    this.#parts = parts;
  }

  /** Drops the body of a message that was put aside, once the stream has shown that it has it. */
  async drop(entry: FlightEntry): Promise<void> {
    const stored = await this.#parts.source.stored.read(entry.sequence);
    if (stored !== null && entry.state === "held") entry.envelope = null;
  }

  /** Tries retry-exhausted messages again whose time has come; permanent ones stay until a repair. */
  tick(now: number): void {
    const { flight } = this.#parts;
    if (flight.held === 0) return;
    for (const entry of [...flight.entries()]) {
      const comesBack = entry.heldReason === "retry_exhausted" || entry.resumed;
      if (entry.state === "held" && comesBack && entry.retryAt <= now) void this.#bringBack(entry);
    }
  }

  /** After a repair: everything put aside for good is tried again, in an ordered lane in its order. */
  resume(): void {
    const { flight, lanes } = this.#parts;
    const back = [...flight.entries()].filter(({ heldReason }) => heldReason === "parked" || heldReason === "permanent");
    // Bodies are read again, and come in any order: the lane waits for all of them.
    for (const entry of back) {
      entry.resumed = true;
      lanes.expect(entry);
    }
    for (const entry of back) void this.#bringBack(entry);
  }

  /** Back among the waiting ones, with the body read again where it was dropped. */
  async #bringBack(entry: FlightEntry): Promise<void> {
    const { flight, lanes, ordered, now, retryMs, judge, changed } = this.#parts;
    entry.retryAt = now() + retryMs;
    if (entry.envelope === null && !(await this.#readBody(entry))) return;
    if (entry.state !== "held" || entry.envelope === null) return;
    const parked = entry.heldReason === "parked";
    entry.resumed = false;
    if (entry.unjudged) entry.rejection = judge(entry.envelope);
    entry.unjudged = false;
    flight.unhold(entry);
    entry.retryAt = 0;
    lanes.add(entry);
    // Its place in the lane was kept while it was held; a parked one only waited behind it.
    if (ordered && !parked) lanes.settleWrite(entry);
    changed();
  }

  async #readBody(entry: FlightEntry): Promise<boolean> {
    const { source, telemetry, origin, nowNs } = this.#parts;
    const stored = await source.stored.read(entry.sequence);
    // Another stream under the old name may have another message at this sequence.
    if (stored === null || parseRfc3339(stored.timestamp) !== entry.position.timestampNs) {
      telemetry.log("warn", "a held message cannot be read from the stream", { stream_sequence: entry.sequence });
      return false;
    }
    entry.envelope ??= envelopeOfStored(stored, entry.position, origin(), nowNs());
    return true;
  }
}
