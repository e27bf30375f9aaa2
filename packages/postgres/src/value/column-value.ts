import { isJsonText } from "../payload/json-text.js";
import type { BoundValue } from "../render/built-write.js";
import { arrayText } from "./array-text.js";
import type { ColumnType } from "./column-type.js";
import { jsonValueText } from "./json-value.js";
import { cutToMicroseconds, type NulPolicy, scalarText } from "./scalar-text.js";
import { ValueFault } from "./value-fault.js";

/**
 * Text of a value for a column (WO-VAL-10..12). Without a type, because the catalog has not been read or has no such column,
 * arrays and objects are JSON text; the server then judges them.
 */
export function columnText(value: unknown, type: ColumnType | undefined, nul: NulPolicy): BoundValue {
  if (value === null) return null;
  if (isJsonText(value) || type?.kind === "json" || type?.kind === "jsonb") return jsonValueText(value, nul);
  const text = scalarText(value, nul);
  if (text !== undefined) return typeof value === "string" && text !== null ? textForType(text, type?.base) : text;
  if (type === undefined) return jsonValueText(value, nul);
  if (type.kind === "array" && Array.isArray(value)) return arrayColumnText(value, type.base, nul);
  const given = Array.isArray(value) ? "an array" : "an object";
  throw new ValueFault(`is ${given}, which a column of type ${type.base}${type.kind === "array" ? "[]" : ""} does not take`);
}

/** Text of a value of `where`: single values only (WO-VAL-14). */
export function predicateText(value: unknown, type: ColumnType | undefined, nul: NulPolicy): BoundValue {
  if (typeof value === "object" && (isJsonText(value) || scalarText(value, nul) === undefined)) {
    throw new ValueFault('is an array or an object, which "where" does not take (use a statement)');
  }
  return columnText(value, type, nul);
}

function textForType(text: string, base: string | undefined): string {
  return base === "timestamptz" || base === "timestamp" ? cutToMicroseconds(text) : text;
}

function arrayColumnText(values: readonly unknown[], base: string, nul: NulPolicy): string {
  const kind = base === "json" || base === "jsonb" ? base : "scalar";
  const element: ColumnType = { kind, base };
  return arrayText(values, { base, arraysAreElements: kind !== "scalar", text: (value) => columnText(value, element, nul) });
}
