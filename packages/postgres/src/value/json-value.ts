import { encodeJson, isErrorKind } from "@sinks/core";
import { isJsonText } from "../payload/json-text.js";
import { withoutJsonNul } from "./json-nul.js";
import type { NulPolicy } from "./scalar-text.js";
import { ValueFault } from "./value-fault.js";

const refused = /^the value at \$(.*?) ((?:is|has|holds) .*)$/s;

/** JSON text of a value, for a `json` or `jsonb` column or a value marked by `json` (WO-VAL-07, -11, -12). */
export function jsonValueText(value: unknown, nul: NulPolicy): string {
  const text = encode(isJsonText(value) ? value.value : value);
  // The encoder writes U+0000 as an escape.
  const stripped = withoutJsonNul(text);
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
