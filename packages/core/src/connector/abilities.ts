import type { Envelope } from "../envelope/envelope.js";
import type { InventoryAbility } from "./inventory.js";
import type { PlanAbility } from "./plan.js";
import type { PreflightAbility } from "./preflight.js";
import type { Sink } from "./sink.js";

/** Says whether the destination can take a write now; throws the `SinkError` that says why not. */
export interface HealthcheckAbility {
  healthcheck(signal: AbortSignal): Promise<void>;
}

/** Makes what the sink needs in the destination (a table, a collection, a folder). */
export interface EnsureSchemaAbility {
  ensureSchema(signal: AbortSignal): Promise<void>;
}

/** Gives what makes the sink's schema, statements in order as an operator runs them, their ends included; connects to nothing. */
export interface DdlAbility {
  ddl(): readonly string[];
}

/** Answers which of these messages are stored already, one flag per message in order. */
export interface LookupAbility {
  lookup(messages: readonly Envelope[], signal: AbortSignal): Promise<readonly boolean[]>;
}

/** Answers, per batch, whether a write of unknown outcome may be repeated (WO-RT-01). Absent means `unsafe`. */
export interface RetrySafetyAbility {
  retrySafety(messages: readonly Envelope[]): "safe" | "unsafe";
}

/** Declares that the sink keeps lane order inside a batch and stops a lane at a failure (FW-RUN-35). */
export interface OrderedBatchesAbility {
  readonly orderedBatches: true;
}

function has(sink: Sink, name: string): boolean {
  return typeof (sink as unknown as Record<string, unknown>)[name] === "function";
}

/** True when the sink can answer a health check. */
export function hasHealthcheck(sink: Sink): sink is Sink & HealthcheckAbility {
  return has(sink, "healthcheck");
}

/** True when the sink can make its own schema. */
export function hasEnsureSchema(sink: Sink): sink is Sink & EnsureSchemaAbility {
  return has(sink, "ensureSchema");
}

/** True when the sink can print its schema. */
export function hasDdl(sink: Sink): sink is Sink & DdlAbility {
  return has(sink, "ddl");
}

/** True when the sink can say what it would write. */
export function hasPlan(sink: Sink): sink is Sink & PlanAbility {
  return has(sink, "plan");
}

/** True when the sink can say which messages it has. */
export function hasLookup(sink: Sink): sink is Sink & LookupAbility {
  return has(sink, "lookup");
}

/** True when the sink answers for retry safety. */
export function hasRetrySafety(sink: Sink): sink is Sink & RetrySafetyAbility {
  return has(sink, "retrySafety");
}

/** True when the sink keeps lane order inside a batch. */
export function hasOrderedBatches(sink: Sink): sink is Sink & OrderedBatchesAbility {
  return (sink as unknown as Record<string, unknown>)["orderedBatches"] === true;
}

/** True when the sink can list what its destination holds. */
export function hasInventory(sink: Sink): sink is Sink & InventoryAbility {
  return has(sink, "inventory");
}

/** True when the sink can check its destination before it is started. */
export function hasPreflight(sink: Sink): sink is Sink & PreflightAbility {
  return has(sink, "preflight");
}
