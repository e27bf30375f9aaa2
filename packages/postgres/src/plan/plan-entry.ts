import { isPlainRecord, isSinkError } from "@sinks/core";
import { checkPayload, type PayloadSettings } from "../payload/check-payload.js";
import { isJsonText } from "../payload/json-text.js";
import type { PostgresPayload } from "../payload/payload.js";
import type { TargetTable } from "../payload/target-table.js";
import type { PayloadBuilder } from "../render/build.js";
import type { TableTypes } from "../value/column-type.js";
import type { PlanEntry } from "./plan.js";

const redacted = "[redacted]";

/** What making an entry of a payload needs. */
export interface EntryParts {
  readonly builder: PayloadBuilder;
  readonly settings: PayloadSettings;
  /** Types of a table, null where they are not known. */
  readonly types: (table: TargetTable) => TableTypes | null;
  readonly showValues: boolean;
}

/** Checks and builds one payload as a write does (WO-GEN-09), and says what it is known by. */
export function planEntry(given: unknown, namesFromMessage: boolean, { builder, settings, types, showValues }: EntryParts): PlanEntry {
  try {
    const payload = checkPayload(given, settings);
    const table = builder.table(payload);
    const built = builder.build(payload, table === null ? null : types(table), namesFromMessage);
    const destination = payload.op === "statement" ? payload.statement : (table?.label ?? null);
    return { destination, extras: extrasOf(payload, showValues), built };
  } catch (error) {
    if (!isSinkError(error)) throw error;
    const op = isPlainRecord(given) && typeof given["op"] === "string" ? given["op"] : "insert";
    return { destination: null, extras: { op }, built: error };
  }
}

/** True when the build of a payload depends on the types of its table (WO-VAL-11). */
export function needsTypes(payload: PostgresPayload): boolean {
  if (payload.op === "statement" || payload.op === "delete") return false;
  return Object.values(payload.data).some((value) => (Array.isArray(value) || isPlainRecord(value)) && !isJsonText(value));
}

function extrasOf(payload: PostgresPayload, showValues: boolean): PlanEntry["extras"] {
  const op = payload.op ?? "insert";
  if (payload.op === "upsert") return { op, conflict: payload.conflict };
  if (payload.op === "update" || payload.op === "delete") return { op, where: showValues ? payload.where : hidden(payload.where) };
  return { op };
}

/** Null stays: that a column has no value is part of the statement's text. */
function hidden(where: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(where).map(([name, value]) => [name, value === null ? null : redacted]));
}
