/** Where and why a text is not what it must be; the text itself is never quoted. */
export class TextFault extends Error {
  readonly line: number;
  readonly column: number;

  constructor(message: string, line: number, column: number) {
    super(message);
    this.line = line;
    this.column = column;
  }
}

const deepest = 100;
const numberPattern = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;
const stringPattern = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9A-Fa-f]{4}))*"/y;
const spacePattern = /[ \t\r\n]*/y;

class JsonReader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  read(): unknown {
    const value = this.#value(0);
    this.#space();
    if (this.#at < this.#text.length) throw this.#fault("text after the end of the document");
    return value;
  }

  #fault(message: string, at: number = this.#at): TextFault {
    const before = this.#text.slice(0, at).split("\n");
    return new TextFault(message, before.length, (before.at(-1)?.length ?? 0) + 1);
  }

  #match(pattern: RegExp): string | null {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text);
    if (found === null) return null;
    this.#at += found[0].length;
    return found[0];
  }

  #space(): void {
    this.#match(spacePattern);
  }

  #take(mark: string): boolean {
    this.#space();
    if (!this.#text.startsWith(mark, this.#at)) return false;
    this.#at += mark.length;
    return true;
  }

  #value(depth: number): unknown {
    if (depth > deepest) throw this.#fault("nested too deep");
    if (this.#take("{")) return this.#object(depth);
    if (this.#take("[")) return this.#array(depth);
    for (const [word, value] of [
      ["true", true],
      ["false", false],
      ["null", null],
    ] as const)
      if (this.#take(word)) return value;
    if (this.#text[this.#at] === '"') return this.#string();
    const start = this.#at;
    const digits = this.#match(numberPattern);
    if (digits === null) throw this.#fault(start >= this.#text.length ? "the document ends too early" : "expected a JSON value");
    const number = Number(digits);
    if (!Number.isFinite(number)) throw this.#fault("a number is too large", start);
    return number;
  }

  #string(): string {
    const found = this.#match(stringPattern);
    if (found === null) throw this.#fault("a string is not closed, or holds a wrong escape or a control character");
    return JSON.parse(found) as string;
  }

  #object(depth: number): Record<string, unknown> {
    const entries = new Map<string, unknown>();
    if (!this.#take("}")) {
      do {
        this.#space();
        const start = this.#at;
        if (this.#text[this.#at] !== '"') throw this.#fault("expected a key in double quotes");
        const key = this.#string();
        if (entries.has(key)) throw this.#fault("a key stands twice in one object", start);
        if (!this.#take(":")) throw this.#fault("expected `:` after a key");
        entries.set(key, this.#value(depth + 1));
      } while (this.#take(","));
      if (!this.#take("}")) throw this.#fault("expected `,` or `}`");
    }
    return Object.fromEntries(entries);
  }

  #array(depth: number): unknown[] {
    const items: unknown[] = [];
    if (this.#take("]")) return items;
    do items.push(this.#value(depth + 1));
    while (this.#take(","));
    if (!this.#take("]")) throw this.#fault("expected `,` or `]`");
    return items;
  }
}

/** Reads strict JSON: duplicate keys, numbers beyond double and deep nesting are refused; throws `TextFault`. */
export function readJsonText(text: string): unknown {
  return new JsonReader(text).read();
}
