import { encodeJson, isErrorKind } from "@sinks/core";
import { isJsonText } from "../payload/json-text.js";
import type { NulPolicy } from "./scalar-text.js";
import { ValueFault } from "./value-fault.js";

const escapes = /\\(?:u0000|.)/g;
const refused = /^the value at \$(.*?) ((?:is|has|holds) .*)$/s;

/** JSON text of a value, for a `json` or `jsonb` column or a value marked by `json` (WO-VAL-07, -11, -12). */
export function jsonValueText(value: unknown, nul: NulPolicy): string {
  const text = encode(isJsonText(value) ? value.value : value);
  // The encoder writes U+0000 as an escape; an escaped backslash before `u0000` is another text.
  if (!text.includes("\\u0000")) return text;
  const stripped = text.replace(escapes, (found) => (found === "\\u0000" ? "" : found));
  if (nul === "reject" && stripped.length !== text.length) throw new ValueFault("holds U+0000 in a string of its JSON");
  return stripped;
}

function encode(value: unknown): string {
  try {
    return encodeJson(value);
  } catch (error) {
    if (!isErrorKind(error, "SerializationError")) throw error;
    const [, path = "", reason = "is no JSON"] = refused.exec(error.message) ?? [];
    throw new ValueFault(reason, path);
  }
}
