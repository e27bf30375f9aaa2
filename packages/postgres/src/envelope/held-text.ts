import { findJsonHazards, ValidationError } from "@sinks/core";
import { withoutJsonNul } from "../value/json-nul.js";
import { type NulPolicy, plainText } from "../value/scalar-text.js";
import { ValueFault } from "../value/value-fault.js";

function refusal(what: string, held: string, remedy: string): ValidationError {
  return new ValidationError(`${what} holds ${held}, which PostgreSQL cannot store${remedy}`, { code: "value_not_storable" });
}

const stripping = " (sink.nul: strip would leave it out)";

/** The text as the server can hold it (WO-VAL-04, -05). Throws `ValidationError`; `what` names the place, never the value. */
export function heldText(value: string, what: string, nul: NulPolicy): string {
  try {
    return plainText(value, nul);
  } catch (error) {
    if (!(error instanceof ValueFault)) throw error;
    throw new ValidationError(`${what} ${error.message}, which PostgreSQL cannot store${value.includes("\0") ? stripping : ""}`, {
      code: "value_not_storable",
    });
  }
}

/** The same for JSON text, whose strings spell such characters as escapes. */
export function heldJson(text: string, what: string, nul: NulPolicy): string {
  if (!text.includes("\\u")) return text;
  const hazards = findJsonHazards(text);
  if (hazards.loneSurrogate) throw refusal(what, "half of a surrogate pair", "");
  if (!hazards.nul) return text;
  if (nul === "reject") throw refusal(what, "the character U+0000", stripping);
  return withoutJsonNul(text);
}
