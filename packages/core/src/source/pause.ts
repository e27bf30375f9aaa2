import { setTimeout as delay } from "node:timers/promises";

/** Waits `ms`, or until `signal` aborts; never rejects. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  try {
    await delay(ms, undefined, { signal });
  } catch {
    // The only rejection is the abort, which is an ordinary end of the wait.
  }
}
