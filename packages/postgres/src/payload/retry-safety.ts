import type { NamedStatements } from "../statement/named-statement.js";
import { scalarText } from "../value/scalar-text.js";
import type { PostgresPayload, UpdatePayload } from "./payload.js";

/** What the answer depends on besides the payloads. */
export interface RetrySafetySettings {
  /** `retry_safety`: judge by the arguments too, or by the operations alone (WO-RT-04). */
  readonly mode: "narrowed" | "table";
  /** With a ledger whatever is repeated takes effect once (WO-RT-06). */
  readonly ledger: boolean;
  readonly statements: NamedStatements;
}

/** Whether a batch of unknown outcome may be written again, and why not. */
export type RetrySafety = { readonly answer: "safe" } | { readonly answer: "unsafe"; readonly reason: string };

const safe: RetrySafety = Object.freeze({ answer: "safe" });

/** Answers for the payloads of one batch; one veto spoils it, and nothing at all is safe (WO-RT-01). */
export function retrySafety(payloads: readonly PostgresPayload[], settings: RetrySafetySettings): RetrySafety {
  if (settings.ledger) return safe;
  for (const payload of payloads) {
    const veto = vetoOf(payload, payloads, settings);
    if (veto !== null) return { answer: "unsafe", reason: veto };
  }
  return safe;
}

function vetoOf(payload: PostgresPayload, batch: readonly PostgresPayload[], settings: RetrySafetySettings): string | null {
  const narrowed = settings.mode === "narrowed";
  switch (payload.op) {
    case "statement":
      return settings.statements.get(payload.statement)?.idempotent === true
        ? null
        : `statement "${payload.statement}" is not said to be idempotent`;
    case "update":
      return narrowed && movesAnother(payload, batch)
        ? "an update changes a column of its own where, and another payload is for its table"
        : null;
    case "upsert":
      return narrowed && payload.conflict.some((name) => !Object.hasOwn(payload.data, name))
        ? "an upsert has a conflict column that is not in data: each repeat may insert"
        : null;
    case "delete":
      return null;
    default:
      return "an insert adds a row each time";
  }
}

/**
 * Repeated, such an update may meet a row that another payload brought to its old value meanwhile, and so undo what came
 * after it (WO-RT-04).
 */
function movesAnother(payload: UpdatePayload, batch: readonly PostgresPayload[]): boolean {
  const moves = Object.keys(payload.where).some(
    (name) => Object.hasOwn(payload.data, name) && !isSame(payload.data[name], payload.where[name]),
  );
  return moves && batch.some((other) => other !== payload && other.op !== "statement" && mayBeSameTable(other.table, payload.table));
}

/** Values that are not shown to be equal count as different. */
function isSame(one: unknown, other: unknown): boolean {
  if (one === null || other === null) return one === other;
  try {
    const text = scalarText(one, "reject");
    return text !== undefined && typeof one === typeof other && text === scalarText(other, "reject");
  } catch {
    return false;
  }
}

/** A table without a schema is in one that only the server knows. */
function mayBeSameTable(one: UpdatePayload["table"], other: UpdatePayload["table"]): boolean {
  const [table, schema] = partsOf(one);
  const [otherTable, otherSchema] = partsOf(other);
  return table === otherTable && (schema === undefined || otherSchema === undefined || schema === otherSchema);
}

function partsOf(table: UpdatePayload["table"]): readonly (string | undefined)[] {
  return (typeof table === "string" ? table.split(".") : table).toReversed();
}
