import { isNumberToken } from "@sinks/core";
import { isJsonText } from "../payload/json-text.js";
import type { BoundValue } from "../render/built-write.js";
import { arrayText } from "./array-text.js";
import { jsonValueText } from "./json-value.js";
import { formFault } from "./param-form.js";
import type { ParamType, ScalarType } from "./param-type.js";
import { cutToMicroseconds, type NulPolicy, scalarText } from "./scalar-text.js";
import { ValueFault } from "./value-fault.js";

type Kind = "boolean" | "number" | "time" | "bytes" | "text";

/** What each declared type may be given besides text of its own form. */
const givenKinds: Readonly<Record<Exclude<ScalarType, "json" | "jsonb">, readonly Kind[]>> = {
  bool: ["boolean", "text"],
  int2: ["number", "text"],
  int4: ["number", "text"],
  int8: ["number", "text"],
  float4: ["number", "text"],
  float8: ["number", "text"],
  numeric: ["number", "text"],
  text: ["boolean", "number", "time", "text"],
  uuid: ["text"],
  date: ["time", "text"],
  timestamp: ["time", "text"],
  timestamptz: ["time", "text"],
  interval: ["text"],
  bytea: ["bytes", "text"],
  inet: ["text"],
};

/** Text of a param of a statement, by its declared type or, without one, by what it is (WO-PGS-18, WO-VAL-13). */
export function paramText(value: unknown, type: ParamType | null, nul: NulPolicy): BoundValue {
  if (type === null) return undeclaredText(value, nul);
  if (value === null) {
    if (!type.nullable) throw new ValueFault("is null, which its type does not allow");
    return null;
  }
  const { base } = type;
  if (!type.array) return declaredText(value, base, nul);
  if (!Array.isArray(value)) throw new ValueFault(`is no array, as ${base}[] needs`);
  const arraysAreElements = base === "json" || base === "jsonb";
  return arrayText(value, { base, arraysAreElements, text: (element) => (element === null ? null : declaredText(element, base, nul)) });
}

function undeclaredText(value: unknown, nul: NulPolicy): BoundValue {
  if (isJsonText(value)) return jsonValueText(value, nul);
  const text = scalarText(value, nul);
  if (text !== undefined) return text;
  if (Array.isArray(value)) throw new ValueFault("is an array without a declared type: declare one, such as jsonb or int8[]");
  return jsonValueText(value, nul);
}

function declaredText(value: unknown, base: ScalarType, nul: NulPolicy): string {
  if (base === "json" || base === "jsonb") return jsonValueText(value, nul);
  if (typeof value === "number" && (base === "float4" || base === "float8")) return checked(String(value), base);
  const text = isJsonText(value) ? undefined : scalarText(value, nul);
  if (text === undefined || text === null || !givenKinds[base].includes(kindOf(value))) throw new ValueFault(`is no ${base}`);
  if (base === "timestamp" || base === "timestamptz") return checked(cutToMicroseconds(text), base);
  return checked(text, base);
}

function kindOf(value: unknown): Kind {
  if (typeof value === "string") return "text";
  if (typeof value === "boolean") return "boolean";
  if (typeof value === "number" || typeof value === "bigint" || isNumberToken(value)) return "number";
  return value instanceof Date ? "time" : "bytes";
}

function checked(text: string, base: ScalarType): string {
  const fault = formFault(text, base);
  if (fault !== null) throw new ValueFault(fault);
  return text;
}
