/** What a stretch of SQL text is. `symbol` is any other single character in code. */
export type TokenKind =
  | "space"
  | "comment"
  | "string"
  | "quoted"
  | "dollar"
  | "identifier"
  | "number"
  | "positional"
  | "cast"
  | "assignment"
  | "symbol";

/** One token; tokens follow each other without gaps. */
export interface Token {
  readonly kind: TokenKind;
  readonly start: number;
  readonly end: number;
}

/** A place where the text breaks a rule of the lexer. */
export class LexicalFault extends Error {
  readonly offset: number;

  constructor(reason: string, offset: number) {
    super(reason);
    this.offset = offset;
  }
}

/** Splits SQL text as the server's own lexer does, with `standard_conforming_strings` on (WO-PGS-04..09). */
export function lexSql(text: string): readonly Token[] {
  const tokens: Token[] = [];
  for (let start = 0; start < text.length; ) {
    const [kind, end] = readToken(text, start);
    tokens.push({ kind, start, end });
    start = end;
  }
  return tokens;
}

/** True where an identifier may begin: the server takes every character outside ASCII for a letter (WO-PGS-07). */
export function isIdentifierStart(text: string, position: number): boolean {
  const unit = text.charCodeAt(position);
  return (unit >= 0x61 && unit <= 0x7a) || (unit >= 0x41 && unit <= 0x5a) || unit === 0x5f || unit >= 0x80;
}

/** True where an identifier may go on. */
export function isIdentifierPart(text: string, position: number): boolean {
  return isIdentifierStart(text, position) || isDigit(text, position) || text[position] === "$";
}

function isDigit(text: string, position: number): boolean {
  const unit = text.charCodeAt(position);
  return unit >= 0x30 && unit <= 0x39;
}

function isSpace(text: string, position: number): boolean {
  const unit = text.charCodeAt(position);
  return unit === 0x20 || (unit >= 0x09 && unit <= 0x0d);
}

function readToken(text: string, start: number): readonly [TokenKind, number] {
  if (isSpace(text, start)) return ["space", skip(text, start + 1, isSpace)];
  if (text.startsWith("--", start)) return ["comment", endOfLine(text, start)];
  if (text.startsWith("/*", start)) return ["comment", endOfBlockComment(text, start)];
  if (isIdentifierStart(text, start)) return readWord(text, start);
  switch (text[start]) {
    case "'":
      return ["string", endOfString(text, start, start, false)];
    case '"':
      return ["quoted", endOfQuoted(text, start, start)];
    case "$":
      return readDollar(text, start);
    case ":":
      if (text[start + 1] === ":") return ["cast", start + 2];
      return text[start + 1] === "=" ? ["assignment", start + 2] : ["symbol", start + 1];
    default:
      if (isDigit(text, start) || (text[start] === "." && isDigit(text, start + 1))) return ["number", endOfNumber(text, start)];
      return ["symbol", start + 1];
  }
}

function skip(text: string, start: number, holds: (text: string, position: number) => boolean): number {
  let position = start;
  while (position < text.length && holds(text, position)) position += 1;
  return position;
}

/** A word is a prefix of a string only when it is all of the token before the quote (WO-PGS-05). */
function readWord(text: string, start: number): readonly [TokenKind, number] {
  const end = skip(text, start + 1, isIdentifierPart);
  const word = text.slice(start, end).toLowerCase();
  if (text[end] === "'") {
    if (word === "e") return ["string", endOfString(text, start, end, true)];
    if (word === "b" || word === "x" || word === "n") return ["string", endOfString(text, start, end, false)];
  }
  if (word === "u" && text[end] === "&") {
    if (text[end + 1] === "'") return ["string", endOfString(text, start, end + 1, false)];
    if (text[end + 1] === '"') return ["quoted", endOfQuoted(text, start, end + 1)];
  }
  return ["identifier", end];
}

/** A comment to the end of its line ends at LF or CR (WO-PGS-06). */
function endOfLine(text: string, start: number): number {
  return skip(text, start, (within, position) => within[position] !== "\n" && within[position] !== "\r");
}

function endOfBlockComment(text: string, start: number): number {
  let depth = 1;
  let position = start + 2;
  while (position < text.length) {
    if (text.startsWith("/*", position)) {
      depth += 1;
      position += 2;
    } else if (text.startsWith("*/", position)) {
      depth -= 1;
      position += 2;
      if (depth === 0) return position;
    } else position += 1;
  }
  throw new LexicalFault("a comment that begins here is not terminated", start);
}

/** End of a string whose quote stands at `quote`. It goes on, in the same mode, after white space that holds a newline. */
function endOfString(text: string, start: number, quote: number, backslashes: boolean): number {
  let position = quote + 1;
  while (position < text.length) {
    if (backslashes && text[position] === "\\") position += 2;
    else if (text[position] !== "'") position += 1;
    else if (text[position + 1] === "'") position += 2;
    else {
      const next = continuedAt(text, position + 1);
      if (next === null) return position + 1;
      position = next + 1;
    }
  }
  throw new LexicalFault("a string that begins here is not terminated", start);
}

/** Place of the quote that continues a string, or null. The server takes comments to the end of a line for white space here. */
function continuedAt(text: string, after: number): number | null {
  let newline = false;
  let position = after;
  for (;;) {
    if (isSpace(text, position)) {
      newline ||= text[position] === "\n" || text[position] === "\r";
      position += 1;
    } else if (text.startsWith("--", position)) {
      position = endOfLine(text, position);
      if (position === text.length) return null;
    } else return newline && text[position] === "'" ? position : null;
  }
}

function endOfQuoted(text: string, start: number, quote: number): number {
  let position = quote + 1;
  for (;;) {
    position = text.indexOf('"', position);
    if (position === -1) throw new LexicalFault("a quoted identifier that begins here is not terminated", start);
    if (text[position + 1] !== '"') return position + 1;
    position += 2;
  }
}

/** A dollar quote, a positional parameter, or a lone dollar sign, which is copied (WO-PGS-09). */
function readDollar(text: string, start: number): readonly [TokenKind, number] {
  if (isDigit(text, start + 1)) return ["positional", withoutLetter(text, skip(text, start + 1, isDigit))];
  const tagEnd = isIdentifierStart(text, start + 1)
    ? skip(text, start + 2, (within, position) => isIdentifierPart(within, position) && within[position] !== "$")
    : start + 1;
  if (text[tagEnd] !== "$") return ["symbol", start + 1];
  const delimiter = text.slice(start, tagEnd + 1);
  const close = text.indexOf(delimiter, tagEnd + 1);
  if (close === -1) throw new LexicalFault("a dollar-quoted string that begins here is not terminated", start);
  return ["dollar", close + delimiter.length];
}

const gluedLetter = "a number is followed directly by a letter";
const radixNumber = /0(?:[xX][0-9a-fA-F_]+|[oO][0-7_]+|[bB][01_]+)/y;
const decimalNumber = /(?:[0-9][0-9_]*(?:\.(?!\.)[0-9_]*)?|\.[0-9][0-9_]*)(?:[eE][+-]?[0-9][0-9_]*)?/y;

function endOfNumber(text: string, start: number): number {
  const end = matchEnd(radixNumber, text, start) ?? matchEnd(decimalNumber, text, start) ?? start + 1;
  // Since version 16 the letters of a number, digits and a dollar sign together are one word.
  if (text[end] === "$" && /[a-z]/i.test(text.slice(start, end))) throw new LexicalFault(gluedLetter, end);
  return withoutLetter(text, end);
}

/** Letters glued to a number mean different things to different servers, among them the prefix of a string: they are refused. */
function withoutLetter(text: string, end: number): number {
  if (isIdentifierStart(text, end)) throw new LexicalFault(gluedLetter, end);
  return end;
}

function matchEnd(pattern: RegExp, text: string, start: number): number | null {
  pattern.lastIndex = start;
  return pattern.test(text) ? pattern.lastIndex : null;
}
