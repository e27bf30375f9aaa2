/** A door that a test opens: whoever waits goes on then, or when a signal aborts. */
export interface Gate {
  /** Lets everybody through, now and later. */
  open(): void;
  /** Resolves when the door is open; rejects with the signal's reason when it aborts first. */
  passed(signal?: AbortSignal): Promise<void>;
}

/** Makes a closed gate. */
export function closedGate(): Gate {
  let open: () => void = () => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return {
    open: () => open(),
    passed: (signal) => (signal === undefined ? opened : Promise.race([opened, aborted(signal)])),
  };
}

/** Rejects with the signal's reason once it aborts; for a sink that hangs until it is told to give up. */
export function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const fail = () => reject(signal.reason as Error);
    if (signal.aborted) fail();
    else signal.addEventListener("abort", fail, { once: true });
  });
}
