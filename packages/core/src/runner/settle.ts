import type { Confirmation } from "../source/confirmation.js";
import type { Telemetry } from "../telemetry/port.js";
import type { FlightEntry } from "./flight.js";

/** What settlement needs of the source: ways to send, and whether the answer can be trusted. */
export interface AckPort {
  readonly connected: boolean;
  /** Changes whenever the connection does. */
  readonly generation: number;
  readonly epochNumber: number;
  readonly trusted: boolean;
  publish(subjects: readonly string[], verb: string): void;
  confirm(subject: string, verb: string, timeoutMs: number): Promise<Confirmation>;
  /** Has the epoch read again before the next ack. */
  doubt(reason: string): void;
  /** Resolves true when acks may be sent (connected, epoch read); false when `signal` aborted first. */
  whenSettling(signal: AbortSignal): Promise<boolean>;
}

/** How acknowledgements are sent (FW-RUN-23). */
export interface SettleSettings {
  readonly mode: "plain" | "batch_confirmed" | "confirmed";
  readonly confirmTimeoutMs: number;
}

const verbs = { ack: "+ACK", term: "+TERM", working: "+WPI" } as const;
const attempts = 3;

/**
 * The only place that sends ack verbs (FW-RUN-07). An ack goes out only for an entry of the current epoch, over a
 * connection that was there before and after; what stays unconfirmed is sent again, three times in all, and then left to
 * redelivery. Nothing here throws: a failure is counted and never skips the rest of a batch (FW-RUN-27).
 */
export class Settlement {
  readonly #port: AckPort;
  readonly #settings: SettleSettings;
  readonly #telemetry: Telemetry;
  readonly #signal: AbortSignal;
  readonly #unconfirmed = new Set<readonly FlightEntry[]>();

  /** `signal` ends every wait: the process is about to leave, and the rest is left to redelivery. */
  constructor(port: AckPort, settings: SettleSettings, telemetry: Telemetry, signal: AbortSignal) {
    this.#port = port;
    this.#settings = settings;
    this.#telemetry = telemetry;
    this.#signal = signal;
  }

  /** Batches whose confirmation failed and is asked for again. */
  get unconfirmed(): number {
    return this.#unconfirmed.size;
  }

  /** Acknowledges stored messages. True when the server has confirmed them, as far as the mode asks for it. */
  acknowledge(entries: readonly FlightEntry[]): Promise<boolean> {
    return this.#settle(entries, verbs.ack);
  }

  /** Ends dead-lettered messages by TERM instead (FW-RUN-26). */
  terminate(entries: readonly FlightEntry[]): Promise<boolean> {
    return this.#settle(entries, verbs.term);
  }

  /** Gives a message back; it comes again `delayMs` later. False when it could not be sent: then its lease runs out. */
  giveBack(entry: FlightEntry, delayMs: number): boolean {
    const nanos = Math.max(0, Math.round(delayMs)) * 1_000_000;
    const sent = this.#send(entry, nanos === 0 ? "-NAK" : `-NAK {"delay":${nanos}}`);
    this.#telemetry.count(sent ? "messages_nacked_total" : "nak_errors_total");
    return sent;
  }

  /** Renews the lease of a message. False when it could not be sent. */
  extend(entry: FlightEntry): boolean {
    const sent = this.#send(entry, verbs.working);
    if (!sent) this.#telemetry.count("heartbeat_errors_total");
    return sent;
  }

  #send(entry: FlightEntry, verb: string): boolean {
    if (!this.#port.connected || !this.#port.trusted || entry.epoch !== this.#port.epochNumber) return false;
    try {
      this.#port.publish([entry.position.text], verb);
      return true;
    } catch {
      this.#telemetry.count("settle_errors_total");
      return false;
    }
  }

  async #settle(entries: readonly FlightEntry[], verb: string): Promise<boolean> {
    try {
      return await this.#settleInAttempts(entries, verb);
    } finally {
      this.#unconfirmed.delete(entries);
    }
  }

  async #settleInAttempts(entries: readonly FlightEntry[], verb: string): Promise<boolean> {
    for (let attempt = 1; attempt <= attempts; attempt += 1) {
      if (!(await this.#trusted())) break;
      const current = entries.filter((entry) => entry.epoch === this.#port.epochNumber);
      if (current.length < entries.length) this.#telemetry.count("stale_epoch_settlements_total", entries.length - current.length);
      if (current.length === 0) return entries.length === 0;
      if (await this.#attempt(current, verb)) {
        this.#telemetry.count(verb === verbs.term ? "messages_terminated_total" : "messages_acked_total", current.length);
        return current.length === entries.length;
      }
      this.#telemetry.count("unconfirmed_acks_total", current.length);
      this.#unconfirmed.add(entries);
      this.#port.doubt("unconfirmed acks");
    }
    this.#telemetry.count(verb === verbs.term ? "term_errors_total" : "ack_errors_total", entries.length);
    this.#telemetry.log("warn", "acks stayed unconfirmed; left to redelivery", { messages: entries.length });
    return false;
  }

  /** Waits until the epoch can be trusted; a doubt raised while the wait was ending is waited for as well. */
  async #trusted(): Promise<boolean> {
    while (!this.#port.trusted) {
      if (!(await this.#port.whenSettling(this.#signal)) || this.#signal.aborted) return false;
    }
    return true;
  }

  async #attempt(entries: readonly FlightEntry[], verb: string): Promise<boolean> {
    const { generation } = this.#port;
    const plain = this.#settings.mode === "plain" ? entries.length : this.#settings.mode === "confirmed" ? 0 : entries.length - 1;
    try {
      const subjects = entries.map((entry) => entry.position.text);
      this.#port.publish(subjects.slice(0, plain), verb);
      const confirmations = await Promise.all(
        subjects.slice(plain).map((subject) => this.#port.confirm(subject, verb, this.#settings.confirmTimeoutMs)),
      );
      const confirmed = confirmations.every((confirmation) => confirmation === "confirmed");
      return confirmed && this.#port.connected && this.#port.generation === generation;
    } catch {
      this.#telemetry.count("settle_errors_total");
      return false;
    }
  }
}
