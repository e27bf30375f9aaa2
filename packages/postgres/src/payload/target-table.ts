import { BoundedMap } from "../render/bounded-map.js";
import { quoteIdentifier, tableParts } from "./identifier.js";

/** The table of a payload. */
export interface TargetTable {
  /** Quoted, as the server reads it: `"hub"."parcels"`. Two names of one table give one text. */
  readonly text: string;
  /** For errors, logs and the probe: `hub.parcels`. */
  readonly label: string;
}

/** Tables that are kept; a message may choose among any number. */
const limit = 1000;

/** Finds the tables of payloads and remembers those named by text. Null for what is no name of a table. */
export function createTargetTables(allowQuoted: boolean): (table: unknown) => TargetTable | null {
  const known = new BoundedMap<TargetTable>(limit);
  return (table) => {
    const found = typeof table === "string" ? known.get(table) : undefined;
    if (found !== undefined) return found;
    const parts = tableParts(table, allowQuoted);
    if (parts === null) return null;
    const target = Object.freeze({ text: parts.map(quoteIdentifier).join("."), label: parts.join(".") });
    return typeof table === "string" ? known.add(table, target) : target;
  };
}
