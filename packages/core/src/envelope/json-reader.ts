import { type JsonArray, type JsonObject, type JsonValue, setMember } from "./json.js";
import { numberFromLiteral } from "./number-literal.js";

/** Reads a text that the scanner has accepted into values without losing a digit; they are not frozen yet. */
export function readJsonLosslessly(text: string): JsonValue {
  return new JsonReader(text).read();
}

/** Freezes a value that was read, innermost first: what is frozen already is so to its depth. */
export function freezeJson(value: JsonValue): JsonValue {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return value;
  for (const member of Array.isArray(value) ? value : Object.values(value)) freezeJson(member as JsonValue);
  return Object.freeze(value) as JsonValue;
}

const quote = 0x22;
const comma = 0x2c;
const closeBracket = 0x5d;
const closeBrace = 0x7d;
/** A number of so many digits is exact as it is counted up. */
const countedDigits = 15;

class JsonReader {
  readonly #text: string;
  #at = 0;
  /** Place of the next backslash, -1 when there is none: most strings have none and are taken as they stand. */
  #backslash: number;

  constructor(text: string) {
    this.#text = text;
    this.#backslash = text.indexOf("\\");
  }

  read(): JsonValue {
    switch (this.#next()) {
      case 0x7b:
        return this.#object();
      case 0x5b:
        return this.#array();
      case quote:
        return this.#string();
      case 0x74:
        this.#at += 4;
        return true;
      case 0x66:
        this.#at += 5;
        return false;
      case 0x6e:
        this.#at += 4;
        return null;
      default:
        return this.#number();
    }
  }

  /** Code of the next character that is no white space. */
  #next(): number {
    let code = this.#text.charCodeAt(this.#at);
    while (code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09) {
      this.#at += 1;
      code = this.#text.charCodeAt(this.#at);
    }
    return code;
  }

  #array(): JsonArray {
    const values: JsonValue[] = [];
    this.#at += 1;
    while (this.#next() !== closeBracket) {
      values.push(this.read());
      if (this.#next() === comma) this.#at += 1;
    }
    this.#at += 1;
    return values;
  }

  #object(): JsonObject {
    const members: Record<string, JsonValue> = {};
    this.#at += 1;
    while (this.#next() !== closeBrace) {
      const name = this.#string();
      this.#next();
      this.#at += 1;
      setMember(members, name, this.read());
      if (this.#next() === comma) this.#at += 1;
    }
    this.#at += 1;
    return members;
  }

  #string(): string {
    const start = this.#at;
    if (this.#backslash !== -1 && this.#backslash < start) this.#backslash = this.#text.indexOf("\\", start);
    let end = this.#text.indexOf('"', start + 1);
    if (this.#backslash === -1 || this.#backslash > end) {
      this.#at = end + 1;
      return this.#text.slice(start + 1, end);
    }
    end = start + 1;
    while (this.#text[end] !== '"') end += this.#text[end] === "\\" ? 2 : 1;
    this.#at = end + 1;
    return JSON.parse(this.#text.slice(start, this.#at)) as string;
  }

  #number(): JsonValue {
    const text = this.#text;
    const start = this.#at;
    const negative = text.charCodeAt(start) === 0x2d;
    let at = negative ? start + 1 : start;
    const first = at;
    let value = 0;
    let code = text.charCodeAt(at);
    while (code >= 0x30 && code <= 0x39) {
      value = value * 10 + (code - 0x30);
      at += 1;
      code = text.charCodeAt(at);
    }
    const isInteger = code !== 0x2e && (code | 0x20) !== 0x65;
    if (isInteger && at - first <= countedDigits) {
      this.#at = at;
      return negative ? -value : value;
    }
    while (isNumberPart(code)) {
      at += 1;
      code = text.charCodeAt(at);
    }
    this.#at = at;
    return numberFromLiteral(text.slice(start, at));
  }
}

/** Digits, signs, the dot and the exponent. */
function isNumberPart(code: number): boolean {
  return (code >= 0x30 && code <= 0x39) || code === 0x2e || code === 0x2d || code === 0x2b || (code | 0x20) === 0x65;
}
