import { SerializationError } from "../error/errors.js";

/** What a client offers of a header block: the names it knows and all values of a name, in order. */
export interface HeaderSource {
  keys(): Iterable<string>;
  values(name: string): Iterable<string>;
}

const fieldName = /^[!-9;-~]+$/;
const control = /[\0-\x1f\x7f]/;
const lineBreak = /[\r\n]/;
const nonAscii = /[^\0-\x7f]/;

/** Lower case of the ASCII letters only, so that no other letter can pass for one. */
function foldCase(name: string): string {
  return nonAscii.test(name) ? name.replace(/[A-Z]/g, (letter) => letter.toLowerCase()) : name.toLowerCase();
}

/**
 * Normalised headers (FW-ENV-03): a frozen map from name to text in the order of the block. Look-up ignores case; the first
 * spelling of a name is kept, repeated values are joined with `,`.
 */
export class HeaderMap implements ReadonlyMap<string, string> {
  readonly #names: readonly string[];
  readonly #values: readonly string[];
  readonly #index: ReadonlyMap<string, number>;
  /** How many headers were left out because their name was empty or held an ASCII control. */
  readonly dropped: number;

  /** @internal Use `normaliseHeaders`. */
  constructor(names: readonly string[], values: readonly string[], index: ReadonlyMap<string, number>, dropped: number) {
    this.#names = names;
    this.#values = values;
    this.#index = index;
    this.dropped = dropped;
    Object.freeze(this);
  }

  get size(): number {
    return this.#names.length;
  }

  get(name: string): string | undefined {
    const position = this.#index.size === 0 ? undefined : this.#index.get(foldCase(name));
    return position === undefined ? undefined : this.#values[position];
  }

  has(name: string): boolean {
    return this.#index.has(foldCase(name));
  }

  forEach(visit: (value: string, name: string, map: ReadonlyMap<string, string>) => void): void {
    for (const [name, value] of this.entries()) visit(value, name, this);
  }

  *entries(): Generator<[string, string], undefined, unknown> {
    for (let position = 0; position < this.#names.length; position += 1) {
      yield [this.#names[position] as string, this.#values[position] as string];
    }
  }

  keys(): ArrayIterator<string> {
    return this.#names.values();
  }

  values(): ArrayIterator<string> {
    return this.#values.values();
  }

  [Symbol.iterator](): Generator<[string, string], undefined, unknown> {
    return this.entries();
  }

  static {
    Object.freeze(this.prototype);
  }
}

/** A message without headers. */
export const noHeaders: HeaderMap = new HeaderMap([], [], new Map(), 0);

/**
 * Builds the map from single headers in order. Throws `SerializationError` (`headers_malformed`) for what no header line
 * can hold: a name with a space, a colon or a character beyond ASCII, a value with a line break.
 */
export function normaliseHeaders(headers: Iterable<readonly [string, string]>): HeaderMap {
  const names: string[] = [];
  const parts: (string | string[])[] = [];
  const index = new Map<string, number>();
  let dropped = 0;
  let ordinal = 0;
  for (const [given, value] of headers) {
    ordinal += 1;
    const name = given.trim();
    if (name === "" || control.test(name)) {
      dropped += 1;
      continue;
    }
    if (!fieldName.test(name)) throw malformed(`header ${ordinal} has no valid name`);
    if (lineBreak.test(value)) throw malformed(`the value of header ${ordinal} holds a line break`);
    const folded = name.toLowerCase();
    const position = index.get(folded);
    if (position === undefined) {
      index.set(folded, names.length);
      names.push(name);
      parts.push(value.trim());
    } else {
      const earlier = parts[position] as string | string[];
      if (typeof earlier === "string") parts[position] = [earlier, value.trim()];
      else earlier.push(value.trim());
    }
  }
  if (names.length === 0 && dropped === 0) return noHeaders;
  const values = parts.map((part) => (typeof part === "string" ? part : part.join(",")));
  return new HeaderMap(names, values, index, dropped);
}

/** Reads the headers of a client's message; names that differ in case only are one header. */
export function headersFromSource(source: HeaderSource): HeaderMap {
  return normaliseHeaders(singleHeaders(source));
}

function* singleHeaders(source: HeaderSource): Generator<[string, string]> {
  for (const name of source.keys()) {
    for (const value of source.values(name)) yield [name, value];
  }
}

/** @internal */
export function malformed(reason: string): SerializationError {
  return new SerializationError(`the headers cannot be parsed: ${reason}`, { code: "headers_malformed" });
}
