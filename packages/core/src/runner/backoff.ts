/** How long to wait before the next attempt (FW-RUN-18). Times are milliseconds. */
export interface BackoffPolicy {
  readonly mode: "fixed" | "linear" | "exponential";
  readonly baseMs: number;
  readonly maxMs: number;
  /** Growth per step of `exponential`, 1..10. */
  readonly multiplier: number;
  readonly jitter: "none" | "full" | "equal";
}

/**
 * Delay after the `failures`th failure (from 1). Always finite and within 0..maxMs, whatever the count; `random` gives
 * [0, 1). `full` jitter takes any share of the delay, `equal` at least half.
 */
export function backoffDelay(policy: BackoffPolicy, failures: number, random: () => number): number {
  const step = Math.max(1, failures);
  const raw = rawDelay(policy, step);
  const capped = Number.isFinite(raw) ? Math.min(raw, policy.maxMs) : policy.maxMs;
  if (policy.jitter === "full") return Math.round(capped * random());
  if (policy.jitter === "equal") return Math.round(capped / 2 + (capped / 2) * random());
  return Math.round(capped);
}

function rawDelay(policy: BackoffPolicy, step: number): number {
  if (policy.baseMs === 0) return 0;
  if (policy.mode === "fixed") return policy.baseMs;
  if (policy.mode === "linear") return policy.baseMs * step;
  // Infinity for large steps is a fact the caller caps; it is never an overflow to a wrong number.
  return policy.baseMs * policy.multiplier ** (step - 1);
}

/**
 * What to ask of the server so that a nak waits `wantedMs`: it adds the difference between the BackOff entry of this
 * delivery and the first entry to every delayed nak (seen on 2.15). Never below 1 ms: a nak always carries a delay.
 */
export function nakDelay(wantedMs: number, backoffMs: readonly number[], deliveryCount: number): number {
  if (backoffMs.length === 0) return Math.max(1, Math.round(wantedMs));
  const entry = entryFor(backoffMs, deliveryCount);
  const wanted = Math.max(wantedMs, entry);
  return Math.max(1, Math.round(wanted - (entry - (backoffMs[0] as number))));
}

/** The consumer's own deadline for a delivery: the BackOff entry for its count, else `ack_wait` (FW-RUN-15). */
export function effectiveDeadline(ackWaitMs: number, backoffMs: readonly number[], deliveryCount: number): number {
  return backoffMs.length === 0 ? ackWaitMs : entryFor(backoffMs, deliveryCount);
}

function entryFor(backoffMs: readonly number[], deliveryCount: number): number {
  const index = Math.min(Math.max(deliveryCount, 1), backoffMs.length) - 1;
  return backoffMs[index] as number;
}
