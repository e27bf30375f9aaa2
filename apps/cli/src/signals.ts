import { exitCodes } from "./exit-code.js";
import type { Host } from "./host.js";

/** What signals do to a running pipeline. */
export interface SignalOptions {
  /** Time after the first signal at which the process leaves whatever happens, in milliseconds (FW-RUN-28). */
  readonly leaveAfterMs: number;
  /** SIGHUP: an operator says that what was broken is repaired (FW-RUN-38). */
  readonly onResume: () => void;
  /** The first signal has come: draining begins. */
  readonly onStopping: (signal: "SIGINT" | "SIGTERM") => void;
  /** The process is about to leave although work is still open. */
  readonly onLeaving: (reason: "second signal" | "deadline") => void;
}

/** Signals under supervision; disposal stops listening. */
export interface SignalSupervision extends Disposable {
  /** Aborts with the first SIGINT or SIGTERM. */
  readonly signal: AbortSignal;
  /** Which signal asked to stop; null while none has. */
  stoppedBy(): "SIGINT" | "SIGTERM" | null;
}

/**
 * Two-phase stop (FW-RUN-28): the first SIGINT or SIGTERM aborts the signal so that the pipeline drains; a second one, or
 * the deadline, ends the process at once.
 */
export function superviseSignals(host: Host, options: SignalOptions): SignalSupervision {
  const stop = new AbortController();
  let first: "SIGINT" | "SIGTERM" | null = null;
  let deadline: NodeJS.Timeout | undefined;

  const onStop = (name: "SIGINT" | "SIGTERM", forced: number) => (): void => {
    if (first !== null) {
      options.onLeaving("second signal");
      host.leave(forced);
      return;
    }
    first = name;
    options.onStopping(name);
    deadline = setTimeout(() => {
      options.onLeaving("deadline");
      host.leave(exitCodes.failure);
    }, options.leaveAfterMs);
    stop.abort();
  };
  const release = [
    host.onSignal("SIGINT", onStop("SIGINT", exitCodes.interrupted)),
    host.onSignal("SIGTERM", onStop("SIGTERM", exitCodes.terminated)),
    host.onSignal("SIGHUP", options.onResume),
  ];
  return {
    signal: stop.signal,
    stoppedBy: () => first,
    [Symbol.dispose]() {
      clearTimeout(deadline);
      for (const stopListening of release) stopListening();
    },
  };
}
