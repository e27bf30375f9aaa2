import { setTimeout as pause } from "node:timers/promises";

/** What the sink touches besides the database; tests replace single parts. */
export interface PostgresWorld {
  /** Runs something once after some time; the returned function gives that up. */
  readonly after: (milliseconds: number, run: () => void) => () => void;
  /** Resolves after so many milliseconds, or early when the signal is aborted. */
  readonly wait: (milliseconds: number, signal: AbortSignal) => Promise<void>;
  /** Evenly from 0 up to, not including, 1. */
  readonly random: () => number;
}

/** The machine itself. */
export const machine: PostgresWorld = Object.freeze({
  after: (milliseconds: number, run: () => void) => {
    const timer = setTimeout(run, milliseconds).unref();
    return () => clearTimeout(timer);
  },
  wait: (milliseconds: number, signal: AbortSignal) => pause(milliseconds, undefined, { signal }).catch(() => undefined),
  random: Math.random,
});
