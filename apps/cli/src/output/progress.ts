import type { RunnerStatus } from "@sinks/core/runtime";
import { oneLine } from "./escape.js";
import { countText } from "./number-text.js";

/** Messages settled so far: the measure of progress. */
function settled(status: RunnerStatus): number {
  return status.stored + status.deadLettered;
}

/** Messages per second over the last few seconds, from readings of the status. */
export class RateMeter {
  readonly #readings: { readonly atMs: number; readonly total: number }[] = [];
  readonly #windowMs: number;

  constructor(windowMs = 5000) {
    this.#windowMs = windowMs;
  }

  /** Takes a reading and gives the rate over the window. */
  read(status: RunnerStatus, nowMs: number): number {
    this.#readings.push({ atMs: nowMs, total: settled(status) });
    while (this.#readings.length > 2 && nowMs - (this.#readings[1]?.atMs ?? nowMs) >= this.#windowMs) this.#readings.shift();
    const oldest = this.#readings[0];
    if (oldest === undefined || nowMs <= oldest.atMs) return 0;
    return ((settled(status) - oldest.total) * 1000) / (nowMs - oldest.atMs);
  }
}

/** The progress of a run as one line for people (FW-CLI-09): rate, lag, in flight, dead letters, and what is wrong. */
export function progressText(status: RunnerStatus, perSecond: number): string {
  const parts = [
    `${countText(status.stored)} stored`,
    `${countText(perSecond)}/s`,
    `lag ${status.lag === null ? "?" : countText(status.lag)}`,
    `in flight ${countText(status.inFlight)}`,
    `dead letters ${countText(status.deadLettered)}`,
  ];
  if (status.held > 0) parts.push(`held ${countText(status.held)}`);
  if (!status.healthy) parts.push(`unhealthy: ${oneLine(status.reasons.join(", "), 200)}`);
  return parts.join("  ");
}

/** The same facts as fields of a log line, for a run without a terminal. */
export function progressFields(status: RunnerStatus, perSecond: number): Readonly<Record<string, string | number | boolean | null>> {
  return {
    state: status.state,
    stored: status.stored,
    per_second: Math.round(perSecond),
    lag: status.lag,
    in_flight: status.inFlight,
    dead_lettered: status.deadLettered,
    retried: status.retried,
    held: status.held,
    healthy: status.healthy,
    ...(status.healthy ? {} : { reasons: status.reasons.join(",") }),
  };
}
