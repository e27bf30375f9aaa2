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
/** With more headers than this, look-up goes through an index. */
const fewHeaders = 8;

/** Lower case of the ASCII letters only, so that no other letter can pass for one. */
export function foldHeaderName(name: string): string {
  return nonAscii.test(name) ? name.replace(/[A-Z]/g, (letter) => letter.toLowerCase()) : name.toLowerCase();
}

/**
 * Normalised headers (FW-ENV-03): a frozen map from name to text in the order of the block. Look-up ignores case; the first
 * spelling of a name is kept, repeated values are joined with `,`.
 */
export class HeaderMap implements ReadonlyMap<string, string> {
  readonly #names: readonly string[];
  readonly #folded: readonly string[];
  readonly #values: readonly string[];
  readonly #index: ReadonlyMap<string, number> | null;
  /** How many headers were left out because their name was empty or held an ASCII control. */
  readonly dropped: number;

  /** @internal Use `normaliseHeaders`. */
  constructor(
    names: readonly string[],
    folded: readonly string[],
    values: readonly string[],
    index: ReadonlyMap<string, number> | null,
    dropped: number,
  ) {
    this.#names = names;
    this.#folded = folded;
    this.#values = values;
    this.#index = index;
    this.dropped = dropped;
    Object.freeze(this);
  }

  get size(): number {
    return this.#names.length;
  }

  get(name: string): string | undefined {
    return this.getFolded(foldHeaderName(name));
  }

  has(name: string): boolean {
    return this.get(name) !== undefined;
  }

  /** @internal Value of a name that is in lower case already. */
  getFolded(folded: string): string | undefined {
    const position = this.#index === null ? this.#folded.indexOf(folded) : (this.#index.get(folded) ?? -1);
    return position === -1 ? undefined : this.#values[position];
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
    Object.freeze(HeaderMap.prototype);
  }
}

/** A message without headers. */
export const noHeaders: HeaderMap = new HeaderMap([], [], [], null, 0);

/** Collects single headers in order; `add` throws as `normaliseHeaders` does. */
export class HeaderCollector {
  readonly #names: string[] = [];
  readonly #folded: string[] = [];
  readonly #values: (string | string[])[] = [];
  #index: Map<string, number> | null = null;
  #repeated = false;
  #dropped = 0;
  #ordinal = 0;

  add(given: string, value: string): void {
    this.#ordinal += 1;
    let name = given;
    if (!fieldName.test(name)) {
      name = given.trim();
      if (name === "" || control.test(name)) {
        this.#dropped += 1;
        return;
      }
      if (!fieldName.test(name)) throw malformed(`header ${this.#ordinal} has no valid name`);
    }
    if (lineBreak.test(value)) throw malformed(`the value of header ${this.#ordinal} holds a line break`);
    const folded = name.toLowerCase();
    const position = this.#index === null ? this.#folded.indexOf(folded) : (this.#index.get(folded) ?? -1);
    if (position === -1) this.#append(name, folded, value.trim());
    else this.#repeat(position, value.trim());
  }

  finish(): HeaderMap {
    if (this.#names.length === 0 && this.#dropped === 0) return noHeaders;
    const values = this.#repeated ? this.#values.map((value) => (typeof value === "string" ? value : value.join(","))) : this.#values;
    return new HeaderMap(this.#names, this.#folded, values as readonly string[], this.#index, this.#dropped);
  }

  #append(name: string, folded: string, value: string): void {
    this.#names.push(name);
    this.#folded.push(folded);
    this.#values.push(value);
    if (this.#index !== null) this.#index.set(folded, this.#names.length - 1);
    else if (this.#names.length > fewHeaders) this.#index = new Map(this.#folded.map((each, position) => [each, position]));
  }

  #repeat(position: number, value: string): void {
    const earlier = this.#values[position] as string | string[];
    if (typeof earlier === "string") this.#values[position] = [earlier, value];
    else earlier.push(value);
    this.#repeated = true;
  }
}

/**
 * Builds the map from single headers in order. Throws `SerializationError` (`headers_malformed`) for what no header line
 * can hold: a name with a space, a colon or a character beyond ASCII, a value with a line break.
 */
export function normaliseHeaders(headers: Iterable<readonly [string, string]>): HeaderMap {
  const collector = new HeaderCollector();
  for (const [name, value] of headers) collector.add(name, value);
  return collector.finish();
}

/** Reads the headers of a client's message; names that differ in case only are one header. */
export function headersFromSource(source: HeaderSource): HeaderMap {
  const collector = new HeaderCollector();
  for (const name of source.keys()) {
    for (const value of source.values(name)) collector.add(name, value);
  }
  return collector.finish();
}

/** @internal The error for a block that is none. */
export function malformed(reason: string): SerializationError {
  return new SerializationError(`the headers cannot be parsed: ${reason}`, { code: "headers_malformed" });
}
