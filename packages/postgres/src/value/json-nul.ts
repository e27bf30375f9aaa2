/** One escape of a JSON string, taken whole: the backslash of another one never begins U+0000. */
const escapes = /\\(?:u0000|u[0-9a-fA-F]{4}|.)/g;

/** JSON text without the escapes that spell U+0000, which no JSON of PostgreSQL holds (WO-VAL-07). */
export function withoutJsonNul(text: string): string {
  if (!text.includes("\\u0000")) return text;
  return text.replace(escapes, (spelled) => (spelled === "\\u0000" ? "" : spelled));
}
