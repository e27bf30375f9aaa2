/** Where the runner takes time and chance from; tests hand in their own. */
export interface Clock {
  /** Monotonic time in whole ms; never goes back (FW-RUN-30). Whole, because it is kept with every message. */
  now(): number;
  /** Wall clock, ns since the Unix epoch. */
  nowNs(): bigint;
  /** A number in [0, 1). */
  random(): number;
}

/** The clock of the process: the monotonic one anchored to the wall clock once a call, so that ns are real. */
export const systemClock: Clock = Object.freeze({
  now: () => Math.trunc(performance.now()),
  nowNs: () => BigInt(Date.now()) * 1_000_000n,
  random: () => Math.random(),
});
