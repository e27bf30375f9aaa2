import type { Envelope } from "../envelope/envelope.js";
import type { SinkError } from "../error/errors.js";

/** How a plan is asked for. */
export interface PlanRequest {
  /** True to show bound values and those of predicates; otherwise they are redacted (WO-OB-02). */
  readonly showValues: boolean;
  readonly signal: AbortSignal;
}

/** One write that a sink would send. */
export interface PlannedWrite {
  /** Name of the statement or script, else table, key or collection (WO-OB-01); null when it could not be told. */
  readonly destination: string | null;
  /** `op`, and what else the operation is known by: `where`, `conflict`, `filter`; only what it uses. */
  readonly extras: Readonly<Record<string, unknown>>;
  /** What is sent for this write alone, as text; null for an operator's own text, and for what cannot be built. */
  readonly rendered: string | null;
  /** How many values are bound. */
  readonly valueCount: number;
  /** The bound values in order, when they were asked for. */
  readonly values: readonly (string | null)[] | null;
  /** Place in the runs of the plan; null for what cannot be built. */
  readonly place: { readonly run: number; readonly chunk: number } | null;
  /** Why it cannot be built; null when it can. */
  readonly error: SinkError | null;
}

/** What becomes of one message. */
export interface PlannedMessage {
  /** In order; empty when the message has nothing to write. */
  readonly writes: readonly PlannedWrite[];
  /** Why the message as a whole can never be written; null when it can. */
  readonly error: SinkError | null;
}

/** Neighbours of one shape, which are sent together. */
export interface PlannedRun {
  readonly operation: string;
  readonly destination: string;
  /** Writes of each part that is sent at once, in order. */
  readonly chunks: readonly number[];
}

/** What a sink would do with a batch. */
export interface SinkPlan {
  /** One for each message of the batch, in order. */
  readonly messages: readonly PlannedMessage[];
  readonly runs: readonly PlannedRun[];
  /** Whether the batch may be repeated after an unknown outcome, and why (WO-RT-01). */
  readonly retrySafety: { readonly answer: "safe" | "unsafe"; readonly reason: string };
  /** What limits the plan, in whole sentences; empty when nothing does. */
  readonly notes: readonly string[];
}

/**
 * Says what a batch would become, and writes nothing. Called on a sink that was made and not started: it connects by itself
 * only where building needs the destination, and leaves nothing open. What is wrong with a message stands in the plan.
 */
export interface PlanAbility {
  plan(messages: readonly Envelope[], request: PlanRequest): Promise<SinkPlan>;
}
