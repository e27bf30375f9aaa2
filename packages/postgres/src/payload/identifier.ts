/** Longest name that the server keeps whole (WO-PG-13). */
const longestName = 63;

/** A table as a payload names it: `t`, `schema.t` or `[schema, t]` (WO-PG-14). */
export type TableName = string | readonly [schema: string, table: string];

/** True for a name that matches `^[A-Za-z_][A-Za-z0-9_]*$` whole and has at most 63 bytes (WO-PG-13). */
export function isPlainIdentifier(name: string): boolean {
  const { length } = name;
  if (length === 0 || length > longestName) return false;
  for (let position = 0; position < length; position += 1) {
    const unit = name.charCodeAt(position);
    const letter = (unit >= 0x61 && unit <= 0x7a) || (unit >= 0x41 && unit <= 0x5a) || unit === 0x5f;
    if (!letter && (position === 0 || unit < 0x30 || unit > 0x39)) return false;
  }
  return true;
}

/** True for any name that fits between double quotes: not empty, at most 63 bytes, well formed and without U+0000 (WO-PG-15). */
export function isQuotableIdentifier(name: string): boolean {
  if (name.length === 0 || name.length > longestName || name.includes("\0")) return false;
  return Buffer.byteLength(name) <= longestName && Buffer.from(name).toString() === name;
}

/** The name between double quotes; only for names that passed one of the checks above. */
export function quoteIdentifier(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/** The parts of a table's name, or null when it is none. The text form takes plain names only, so that its dot means one thing. */
export function tableParts(table: unknown, allowQuoted: boolean): readonly string[] | null {
  if (typeof table === "string") {
    if (isPlainIdentifier(table)) return [table];
    const parts = table.split(".");
    return parts.length === 2 && parts.every(isPlainIdentifier) ? parts : null;
  }
  if (!Array.isArray(table) || table.length !== 2) return null;
  const fits = (part: unknown) => typeof part === "string" && (isPlainIdentifier(part) || (allowQuoted && isQuotableIdentifier(part)));
  return table.every(fits) ? (table as string[]) : null;
}

/** A table's text name, checked before, as SQL has it: `"hub"."parcels"`. */
export function quoteTable(table: string): string {
  return table.split(".").map(quoteIdentifier).join(".");
}
