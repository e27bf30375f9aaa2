/** How a check ended: `skipped` means that it could not be asked, or did not apply. */
export type CheckStatus = "pass" | "warn" | "fail" | "skipped";

/** One check with what it found and, where something is wrong, what to do (FW-CLI-10). */
export interface Check {
  /** Stable name, `^[a-z][a-z0-9_.]*$`. */
  readonly id: string;
  readonly status: CheckStatus;
  readonly message: string;
  /** What to do; null when there is nothing to do. */
  readonly remedy: string | null;
}

/** What the checks are for: `start` when the sink is to run next, `inspection` when somebody wants to know all that is wrong. */
export type PreflightOccasion = "start" | "inspection";

/**
 * Checks the destination before anything is written to it: schema, rights, room (FW-CLI-06). Called on a sink that was made
 * and not started: it connects by itself, writes nothing and leaves nothing open. What is wrong is a check that failed; a
 * throw means that the destination could not be asked. A check that failed ends a start: what may be mended while messages
 * are held is therefore checked for an inspection only (WO-GEN-17). Without an occasion it is an inspection.
 */
export interface PreflightAbility {
  preflight(signal: AbortSignal, occasion?: PreflightOccasion): Promise<readonly Check[]>;
}
