import type { Telemetry } from "../telemetry/port.js";

/** A block of this length is told of even when heartbeats are farther apart. */
const longestSilentMs = 2000;

/**
 * Measures how late the event loop comes to a tick, and reports a block that cost a heartbeat: it explains leases that were
 * lost and pings that went unanswered (FW-RUN-17).
 */
export class LoopWatch {
  readonly #telemetry: Telemetry;
  readonly #tickMs: number;
  #tickedAt: number;

  constructor(telemetry: Telemetry, tickMs: number, now: number) {
    this.#telemetry = telemetry;
    this.#tickMs = tickMs;
    this.#tickedAt = now;
  }

  /** A tick that should come `tickMs` after the one before; when `heartbeatMs` lie between them it is told of. */
  tick(now: number, heartbeatMs: number): void {
    const passed = now - this.#tickedAt;
    this.#tickedAt = now;
    this.#telemetry.observe?.("event_loop_delay_seconds", Math.max(0, passed - this.#tickMs) / 1000);
    if (passed < Math.min(heartbeatMs, longestSilentMs)) return;
    this.#telemetry.count("event_loop_blocks_total");
    this.#telemetry.log("warn", "the event loop was blocked", { ms: passed });
  }
}
