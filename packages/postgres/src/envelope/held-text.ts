import { findJsonHazards, ValidationError } from "@sinks/core";
import type { PostgresOptions } from "../options.js";
import { plainText } from "../value/scalar-text.js";
import { ValueFault } from "../value/value-fault.js";

type NulRule = PostgresOptions["nul"];

function refusal(what: string, held: string, remedy: string): ValidationError {
  return new ValidationError(`${what} holds ${held}, which PostgreSQL cannot store${remedy}`, { code: "value_not_storable" });
}

const stripping = " (sink.nul: strip would leave it out)";

/** The text as the server can hold it (WO-VAL-04, -05). Throws `ValidationError`; `what` names the place, never the value. */
export function heldText(value: string, what: string, nul: NulRule): string {
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
export function heldJson(text: string, what: string, nul: NulRule): string {
  if (!text.includes("\\u")) return text;
  const hazards = findJsonHazards(text);
  if (hazards.loneSurrogate) throw refusal(what, "half of a surrogate pair", "");
  if (!hazards.nul) return text;
  if (nul === "reject") throw refusal(what, "the character U+0000", stripping);
  // Each escape is taken whole, so that the backslash of another one never begins this one.
  return text.replace(/\\(?:u0000|u[0-9a-fA-F]{4}|.)/g, (spelled) => (spelled === "\\u0000" ? "" : spelled));
}
