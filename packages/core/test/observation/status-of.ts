import type { RunnerStatus } from "../../src/runner/runner-contract.js";

/** The status of a pipeline that runs well, with some facts changed. */
export function statusOf(changed: Partial<RunnerStatus> = {}): RunnerStatus {
  return {
    state: "running",
    healthy: true,
    ready: true,
    reasons: [],
    received: 10,
    stored: 8,
    deadLettered: 1,
    retried: 2,
    held: 0,
    inFlight: 1,
    bytesInFlight: 100,
    lag: 5,
    ackPending: 1,
    oldestUnsettledMs: 1500,
    ...changed,
  };
}
