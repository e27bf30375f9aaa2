import type { SegmentFailure } from "./segment-failure.js";

/**
 * What an isolation does after a segment failed: try it `again`; `halve` its statements (WO-PG-23); `split` it; take the
 * failure as the `verdict` on its one message; go on with `transactions` instead of savepoints; or `leave` (WO-PG-28).
 */
export type IsolationStep = "again" | "halve" | "split" | "verdict" | "transactions" | "leave";

/** Facts of the segment that failed and of the isolation so far. */
export interface IsolationFacts {
  /** True when the segment is one message. */
  readonly single: boolean;
  /** True when each segment has a transaction of its own. */
  readonly inTransactions: boolean;
  /** True when statements are halved already. */
  readonly halving: boolean;
  /** True when this segment was tried again for the sake of a plan. */
  readonly planRenewed: boolean;
  /** True when a segment without a message of this one ran into a timeout before. */
  readonly timedOutElsewhere: boolean;
}

/** The decision, by course of the failure. Pure. */
export function decideIsolationStep({ course }: SegmentFailure, facts: IsolationFacts): IsolationStep {
  const find: IsolationStep = facts.single ? "verdict" : "split";
  switch (course) {
    case "lost":
    case "unavailable":
    case "credentials":
    case "schema":
      return "leave";
    case "isolate":
    case "parent_missing":
    case "denied":
      return find;
    case "repeated_key":
      return facts.halving ? find : "halve";
    case "stale_plan":
      if (!facts.inTransactions) return "transactions";
      return facts.planRenewed ? find : "again";
    case "timed_out":
      if (!facts.inTransactions) return "transactions";
      return facts.timedOutElsewhere ? "leave" : find;
    case "repeat":
      return facts.inTransactions ? find : "transactions";
  }
}

/** True when a failure may pass by itself, so that the same work is worth another try (WO-PG-29). */
export function mayPass({ course }: SegmentFailure): boolean {
  return course === "repeat" || course === "timed_out";
}

/** The decision after the server refused to commit segments that share a transaction: none of them is at fault alone. */
export function stepAfterRefusedCommit(failure: SegmentFailure): IsolationStep {
  const step = decideIsolationStep(failure, {
    single: false,
    inTransactions: false,
    halving: true,
    planRenewed: false,
    timedOutElsewhere: false,
  });
  return step === "leave" ? "leave" : "transactions";
}
