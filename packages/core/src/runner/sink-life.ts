import type { Configuration } from "../config/schema.js";
import type { Sink, SinkContext } from "../connector/sink.js";
import { DestinationUnavailableError } from "../error/errors.js";
import { toSinkError } from "../error/to-sink-error.js";
import { pause } from "../source/pause.js";
import type { Telemetry } from "../telemetry/port.js";

/**
 * Starts a sink, `limitMs` at most, `before` included, which is called first. One that hangs, or that does not look at its signal, has failed as if its destination
 * were away; it is for the caller to stop it.
 */
export async function startWithin(
  sink: Sink,
  context: SinkContext,
  limitMs: number,
  before?: (signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const givenUp = new AbortController();
  const ended = new AbortController();
  const signal = AbortSignal.any([context.signal, givenUp.signal]);
  const started = (async () => {
    if (before !== undefined) {
      await before(signal);
      // Nobody waits any more: a sink that starts now would be left running.
      if (signal.aborted) throw new DestinationUnavailableError("the start was given up");
    }
    await sink.start({ ...context, signal });
    return true;
  })();
  const over = pause(limitMs, AbortSignal.any([context.signal, ended.signal])).then(() => false);
  try {
    if (await Promise.race([started, over])) return;
    givenUp.abort();
    // Whatever it answers now comes too late.
    started.catch(() => undefined);
    throw new DestinationUnavailableError(context.signal.aborted ? "the start was given up" : "the sink did not start in time");
  } finally {
    ended.abort();
  }
}

/** Time a sink may take to start: what start as a whole may take, at least a second. */
export function startLimit({ delivery }: Configuration): number {
  return Math.max(1000, delivery.start_timeout_ms);
}

/** Stops a sink, `limitMs` at most; an error while closing is logged and masks nothing (FW-ERR-06). */
export async function stopQuietly(sink: Sink, telemetry: Telemetry, limitMs: number): Promise<void> {
  const ended = new AbortController();
  const stopped = (async () => sink.stop())().then(
    () => true,
    (error: unknown) => {
      telemetry.log("warn", "sink did not stop cleanly", { code: toSinkError(error).code });
      return true;
    },
  );
  const late = pause(limitMs, ended.signal).then(() => false);
  if (!(await Promise.race([stopped, late]))) telemetry.log("warn", "sink did not stop in time", { limit_ms: limitMs });
  ended.abort();
}

/** Time a sink may take to stop: what an aborted write may take, at least a second. */
export function stopLimit({ delivery }: Configuration): number {
  return Math.max(1000, delivery.abort_grace_ms);
}
