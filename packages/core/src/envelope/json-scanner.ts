import { decodeUtf8 } from "./utf8-text.js";

/** What a scan learns about a strict JSON text. */
export interface JsonFacts {
  /** False when some number needs more digits than `JSON.parse` keeps for sure. */
  readonly plainNumbers: boolean;
  /** True when a root member has one of the watched names. */
  readonly watchedRootMember: boolean;
}

/** Deepest nesting that is still JSON (FW-PAY-03). */
const maximumJsonDepth = 512;

const quote = 0x22;
const backslash = 0x5c;
const comma = 0x2c;
const colon = 0x3a;
const closeBracket = 0x5d;
const closeBrace = 0x7d;
/** With more members than this, the names of an object are compared through a set. */
const fewNames = 16;

/**
 * One pass over UTF-8 bytes that accepts exactly RFC 8259 with distinct member names (after unescaping) and at most 512
 * levels. It builds nothing but marks of the names of open objects: a name is kept as its place and a hash over its
 * unescaped bytes, and read again only when two hashes agree. Bytes, not a string: the engine keeps strings in several
 * forms, and the loop would be compiled for all of them.
 */
class JsonScanner {
  readonly #bytes: Uint8Array;
  readonly #end: number;
  readonly #watched: ReadonlySet<string>;
  /** Three numbers for each name of an open object: start and end (quotes included) and hash. */
  readonly #names: number[] = [];
  #at = 0;
  /** Hash and form of the string read last. */
  #hash = 0;
  #escaped = false;
  #plainNumbers = true;
  #watchedRootMember = false;

  constructor(bytes: Uint8Array, watched: ReadonlySet<string>) {
    this.#bytes = bytes;
    this.#end = bytes.length;
    this.#watched = watched;
  }

  scan(): JsonFacts | null {
    if (!this.#value(this.#next(), 0) || this.#next() !== -1) return null;
    return { plainNumbers: this.#plainNumbers, watchedRootMember: this.#watchedRootMember };
  }

  /** Skips white space; the byte that stands there, -1 at the end. */
  #next(): number {
    const bytes = this.#bytes;
    let at = this.#at;
    while (at < this.#end) {
      const code = bytes[at] as number;
      if (code > 0x20 || (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09)) {
        this.#at = at;
        return code;
      }
      at += 1;
    }
    this.#at = at;
    return -1;
  }

  #value(code: number, depth: number): boolean {
    switch (code) {
      case quote:
        return this.#string();
      case 0x7b:
        return this.#object(depth + 1);
      case 0x5b:
        return this.#array(depth + 1);
      case 0x74:
        return this.#word("true");
      case 0x66:
        return this.#word("false");
      case 0x6e:
        return this.#word("null");
      default:
        return this.#number();
    }
  }

  #word(word: string): boolean {
    for (let position = 0; position < word.length; position += 1) {
      if (this.#bytes[this.#at + position] !== word.charCodeAt(position)) return false;
    }
    this.#at += word.length;
    return true;
  }

  #array(depth: number): boolean {
    if (depth > maximumJsonDepth) return false;
    this.#at += 1;
    let code = this.#next();
    if (code === closeBracket) {
      this.#at += 1;
      return true;
    }
    for (;;) {
      if (!this.#value(code, depth)) return false;
      code = this.#next();
      this.#at += 1;
      if (code === closeBracket) return true;
      if (code !== comma) return false;
      code = this.#next();
    }
  }

  #object(depth: number): boolean {
    if (depth > maximumJsonDepth) return false;
    const first = this.#names.length;
    let set: Set<string> | null = null;
    this.#at += 1;
    let code = this.#next();
    if (code === closeBrace) {
      this.#at += 1;
      return true;
    }
    for (;;) {
      const start = this.#at;
      if (code !== quote || !this.#string()) return false;
      if (set === null && this.#names.length - first >= 3 * fewNames) set = this.#takeNames(first);
      if (set === null ? this.#repeats(first, start) : !this.#isNew(set, start)) return false;
      if (depth === 1 && this.#isWatched(start)) this.#watchedRootMember = true;
      if (this.#next() !== colon) return false;
      this.#at += 1;
      if (!this.#value(this.#next(), depth)) return false;
      code = this.#next();
      this.#at += 1;
      if (code === closeBrace) break;
      if (code !== comma) return false;
      code = this.#next();
    }
    this.#names.length = first;
    return true;
  }

  /** True when the name just read stands in the open object already; else it is remembered. */
  #repeats(first: number, start: number): boolean {
    const hash = this.#escaped ? hashOf(this.#name(start, this.#at)) : this.#hash;
    const names = this.#names;
    for (let position = first; position < names.length; position += 3) {
      if (names[position + 2] !== hash) continue;
      if (this.#name(names[position] as number, names[position + 1] as number) === this.#name(start, this.#at)) return true;
    }
    names.push(start, this.#at, hash);
    return false;
  }

  #takeNames(first: number): Set<string> {
    const set = new Set<string>();
    for (let position = first; position < this.#names.length; position += 3) {
      set.add(this.#name(this.#names[position] as number, this.#names[position + 1] as number));
    }
    return set;
  }

  #isNew(set: Set<string>, start: number): boolean {
    const before = set.size;
    return set.add(this.#name(start, this.#at)).size > before;
  }

  #isWatched(start: number): boolean {
    // A watched name begins with "_", as it is or as an escape.
    const code = this.#bytes[start + 1];
    return (code === 0x5f || code === backslash) && this.#watched.has(this.#name(start, this.#at));
  }

  /** The unescaped name between two places. */
  #name(start: number, end: number): string {
    return JSON.parse(decodeUtf8(this.#bytes.subarray(start, end)) as string) as string;
  }

  #string(): boolean {
    const bytes = this.#bytes;
    const end = this.#end;
    let at = this.#at + 1;
    let hash = 0;
    this.#escaped = false;
    while (at < end) {
      const code = bytes[at] as number;
      at += 1;
      if (code === quote) {
        this.#hash = hash;
        this.#at = at;
        return true;
      }
      if (code < 0x20) return false;
      if (code === backslash) {
        this.#escaped = true;
        const length = escapeLength(bytes, at);
        if (length === 0) return false;
        at += length;
      }
      hash = mix(hash, code);
    }
    return false;
  }

  #number(): boolean {
    const bytes = this.#bytes;
    let at = this.#at;
    if (bytes[at] === 0x2d) at += 1;
    const whole = at;
    if (bytes[at] === 0x30) at += 1;
    else at = digitsEnd(bytes, at);
    let digits = at - whole;
    if (digits === 0) return false;
    if (bytes[at] === 0x2e) {
      const fraction = at + 1;
      at = digitsEnd(bytes, fraction);
      if (at === fraction) return false;
      digits += at - fraction;
    }
    // Fifteen digits survive a double; an exponent may leave its range.
    if (digits > 15) this.#plainNumbers = false;
    if (at < this.#end && ((bytes[at] as number) | 0x20) === 0x65) {
      at += 1;
      if (bytes[at] === 0x2b || bytes[at] === 0x2d) at += 1;
      const start = at;
      at = digitsEnd(bytes, start);
      if (at === start) return false;
      this.#plainNumbers = false;
    }
    this.#at = at;
    return true;
  }
}

function mix(hash: number, code: number): number {
  return (Math.imul(hash, 31) + code) & 0x3fffffff;
}

/** Hash of an unescaped name, the same as the scan makes of its plain spelling. */
function hashOf(name: string): number {
  let hash = 0;
  for (const byte of Buffer.from(name, "utf8")) hash = mix(hash, byte);
  return hash;
}

function digitsEnd(bytes: Uint8Array, start: number): number {
  let at = start;
  while (at < bytes.length) {
    const code = bytes[at] as number;
    if (code < 0x30 || code > 0x39) break;
    at += 1;
  }
  return at;
}

/** How many bytes the escape after a backslash takes; 0 when it is none. */
function escapeLength(bytes: Uint8Array, at: number): number {
  switch (bytes[at]) {
    case quote:
    case backslash:
    case 0x2f:
    case 0x62:
    case 0x66:
    case 0x6e:
    case 0x72:
    case 0x74:
      return 1;
    case 0x75:
      for (let position = at + 1; position < at + 5; position += 1) if (!isHexadecimal(bytes[position])) return 0;
      return 5;
    default:
      return 0;
  }
}

function isHexadecimal(code: number | undefined): boolean {
  if (code === undefined) return false;
  const letter = code | 0x20;
  return (code >= 0x30 && code <= 0x39) || (letter >= 0x61 && letter <= 0x66);
}

/** Facts of strict JSON in UTF-8 bytes known to be valid; null when they are no strict JSON. Watched names begin with `_`. */
export function scanJson(bytes: Uint8Array, watched: ReadonlySet<string>): JsonFacts | null {
  return new JsonScanner(bytes, watched).scan();
}
