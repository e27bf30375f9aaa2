import type { Telemetry } from "../telemetry/port.js";
import type { FlightEntry } from "./flight.js";

/** What became of a single message that did not simply get stored. */
export type MessageFate = "message held" | "message dead-lettered" | "message discarded";

/** Lines of one fate within the time below; what goes beyond is only counted. */
const mostLines = 10;
const withinMs = 10_000;

interface Window {
  since: number;
  lines: number;
  leftOut: number;
}

/**
 * Says in the log which message was put aside and why. Thousands of bad messages are an incident that counters tell: after a
 * few lines the rest is left out, and the next line that comes says how many were.
 */
export class MessageReports {
  readonly #telemetry: Telemetry;
  readonly #now: () => number;
  readonly #windows = new Map<MessageFate, Window>();

  constructor(telemetry: Telemetry, now: () => number) {
    this.#telemetry = telemetry;
    this.#now = now;
  }

  /** `code` is that of the error behind it; its text stays out, because a connector's may show a value. */
  report(fate: MessageFate, entry: FlightEntry, code: string): void {
    const window = this.#window(fate);
    if (window.lines >= mostLines) {
      window.leftOut += 1;
      return;
    }
    window.lines += 1;
    const { leftOut } = window;
    window.leftOut = 0;
    this.#telemetry.log("warn", fate, {
      stream_sequence: entry.sequence,
      subject: entry.envelope?.subject ?? null,
      code,
      deliveries: entry.position.count,
      ...(leftOut > 0 ? { left_out: leftOut } : {}),
    });
  }

  #window(fate: MessageFate): Window {
    const known = this.#windows.get(fate);
    const now = this.#now();
    if (known !== undefined && now - known.since < withinMs) return known;
    const fresh = { since: now, lines: 0, leftOut: known?.leftOut ?? 0 };
    this.#windows.set(fate, fresh);
    return fresh;
  }
}
