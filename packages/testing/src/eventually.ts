import { setTimeout as wait } from "node:timers/promises";

/** How long a condition is given, and what a failure calls it. */
export interface EventuallyOptions {
  /** Milliseconds until the wait is given up. */
  readonly deadlineMs: number;
  /** What is waited for, as it reads after "gave up waiting for". */
  readonly what: string;
  /** Milliseconds between two looks; 20 by default. */
  readonly intervalMs?: number;
  /** Ends the wait early with the signal's reason. */
  readonly signal?: AbortSignal;
}

/**
 * Looks again until `condition` answers something truthy, and resolves with that answer. A throw counts as "not yet".
 * Rejects at the deadline with what was waited for and the last answer or error.
 */
export async function eventually<Answer>(
  condition: () => Answer | Promise<Answer>,
  options: EventuallyOptions,
): Promise<NonNullable<Answer>> {
  const end = performance.now() + options.deadlineMs;
  let last: unknown;
  let failure: unknown;
  for (;;) {
    options.signal?.throwIfAborted();
    try {
      const answer = await condition();
      if (answer) return answer;
      last = answer;
      failure = undefined;
    } catch (error) {
      failure = error;
    }
    if (performance.now() >= end) break;
    // An aborted wait ends early; the look at the signal above then throws its reason.
    await wait(options.intervalMs ?? 20, undefined, options.signal === undefined ? {} : { signal: options.signal }).catch(() => undefined);
  }
  const detail =
    failure === undefined ? `last answer: ${String(last)}` : `last error: ${failure instanceof Error ? failure.message : String(failure)}`;
  throw new Error(`gave up waiting for ${options.what} after ${options.deadlineMs} ms (${detail})`, { cause: failure });
}
