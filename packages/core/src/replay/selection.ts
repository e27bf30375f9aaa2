import type { DeadLetterEntry } from "../dead-letter/entry.js";
import { isNumberToken, type JsonValue } from "../envelope/json.js";

/** Fields of a dead letter that a selection may name. */
export const selectableFields = [
  "stream",
  "consumer",
  "sink",
  "stream_sequence",
  "subject",
  "error_code",
  "error_type",
  "destination_code",
  "message_id",
  "priority",
  "classification",
  "delivery_count",
] as const;

/** A field that a selection may name. */
export type SelectableField = (typeof selectableFields)[number];

/** Values that fields must have, all of them, as text. */
export type Conditions = Readonly<Partial<Record<SelectableField, string>>>;

/** Which dead letters are put back: named ones, or all that meet conditions. */
export type ReplaySelection = { readonly sequences: readonly number[] } | { readonly where: Conditions };

/** True when an entry meets every condition. */
export function meets(entry: Pick<DeadLetterEntry, "record">, conditions: Conditions): boolean {
  const { record } = entry;
  return record !== null && Object.entries(conditions).every(([field, wanted]) => shown(record[field]) === wanted);
}

function shown(value: JsonValue | undefined): string | null {
  if (value === null || value === undefined || (typeof value === "object" && !isNumberToken(value))) return null;
  return String(value);
}
