import { isIdentifierPart, isIdentifierStart, LexicalFault, type Token } from "./sql-lexer.js";

/** A `:name` in the text. */
export interface Placeholder {
  readonly name: string;
  readonly start: number;
  readonly end: number;
}

const slice = "write [lo : hi] between columns and [1 : :n] with a placeholder";

/** Finds every `:name` among the tokens of a text; throws a `LexicalFault` for a colon that could be meant in two ways. */
export function findPlaceholders(text: string, tokens: readonly Token[]): readonly Placeholder[] {
  const found: Placeholder[] = [];
  const brackets: number[] = [];
  for (const [index, token] of tokens.entries()) {
    if (token.kind === "positional") throw new LexicalFault("a positional parameter is not allowed: write :name", token.start);
    if (token.kind !== "symbol") continue;
    const symbol = text[token.start];
    if (symbol === "[") brackets.push(token.start);
    else if (symbol === "]") brackets.pop();
    else if (symbol === ":") {
      const placeholder = readColon(text, token.start, tokens[index - 1], brackets.length > 0);
      if (placeholder !== null) found.push(placeholder);
    }
  }
  const open = brackets.at(-1);
  if (open !== undefined) throw new LexicalFault("a bracket that opens here is not closed", open);
  return found;
}

/** A placeholder, or null for the colon of a slice, which is copied (WO-PGS-10, -11). */
function readColon(text: string, start: number, before: Token | undefined, inBrackets: boolean): Placeholder | null {
  const next = start + 1;
  if (next >= text.length || !isIdentifierStart(text, next)) {
    if (inBrackets && next < text.length) return null;
    if (text[next] === "'" || text[next] === '"') {
      throw new LexicalFault("quoted placeholders are not supported: write :name, the value is bound", start);
    }
    throw new LexicalFault("a colon opens neither a placeholder, a cast nor an assignment", start);
  }
  if (inBrackets && endsValue(text, before)) throw new LexicalFault(`a slice or a placeholder? ${slice}`, start);
  // `$` and the `$1` that a placeholder becomes would together open a dollar quote.
  const dollar = before?.kind === "symbol" && text[before.start] === "$";
  if (dollar || before?.kind === "identifier" || before?.kind === "number") {
    throw new LexicalFault("a placeholder is glued to what stands before it: put a space between them", start);
  }
  let end = next;
  while (end < text.length && isNamePart(text.charCodeAt(end))) end += 1;
  if (end === next || (end < text.length && isIdentifierPart(text, end))) {
    throw new LexicalFault("the name of a placeholder holds ASCII letters, digits and _ only", start);
  }
  return { name: text.slice(next, end), start, end };
}

function endsValue(text: string, before: Token | undefined): boolean {
  if (before === undefined) return false;
  if (before.kind === "symbol") return text[before.start] === ")" || text[before.start] === "]";
  return ["identifier", "number", "string", "quoted", "dollar"].includes(before.kind);
}

function isNamePart(unit: number): boolean {
  return (unit >= 0x61 && unit <= 0x7a) || (unit >= 0x41 && unit <= 0x5a) || (unit >= 0x30 && unit <= 0x39) || unit === 0x5f;
}
