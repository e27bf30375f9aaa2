import { type JsonArray, type JsonObject, type JsonValue, setMember } from "./json.js";
import { numberFromLiteral } from "./number-literal.js";

/** Reads a text that the scanner has accepted into frozen values without losing a digit. */
export function readJsonLosslessly(text: string): JsonValue {
  return new JsonReader(text).read();
}

/** Freezes a value that was read, innermost first: what is frozen already is so to its depth. */
export function freezeJson(value: JsonValue): JsonValue {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return value;
  for (const member of Array.isArray(value) ? value : Object.values(value)) freezeJson(member as JsonValue);
  return Object.freeze(value) as JsonValue;
}

class JsonReader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  read(): JsonValue {
    const start = this.#next();
    switch (this.#text[start]) {
      case "{":
        return this.#object();
      case "[":
        return this.#array();
      case '"':
        return this.#string();
      case "t":
        this.#at = start + 4;
        return true;
      case "f":
        this.#at = start + 5;
        return false;
      case "n":
        this.#at = start + 4;
        return null;
      default:
        return this.#number();
    }
  }

  /** Place of the next character that is no white space. */
  #next(): number {
    while (" \t\n\r".includes(this.#text.charAt(this.#at)) && this.#at < this.#text.length) this.#at += 1;
    return this.#at;
  }

  #array(): JsonArray {
    const values: JsonValue[] = [];
    this.#at += 1;
    while (this.#text[this.#next()] !== "]") {
      values.push(this.read());
      if (this.#text[this.#next()] === ",") this.#at += 1;
    }
    this.#at += 1;
    return Object.freeze(values);
  }

  #object(): JsonObject {
    const members: Record<string, JsonValue> = {};
    this.#at += 1;
    while (this.#text[this.#next()] !== "}") {
      const name = this.#string();
      this.#next();
      this.#at += 1;
      setMember(members, name, this.read());
      if (this.#text[this.#next()] === ",") this.#at += 1;
    }
    this.#at += 1;
    return Object.freeze(members);
  }

  #string(): string {
    const start = this.#at;
    let end = start + 1;
    while (this.#text[end] !== '"') end += this.#text[end] === "\\" ? 2 : 1;
    this.#at = end + 1;
    return JSON.parse(this.#text.slice(start, this.#at)) as string;
  }

  #number(): JsonValue {
    const start = this.#at;
    let end = start;
    while (end < this.#text.length && "+-.0123456789eE".includes(this.#text[end] as string)) end += 1;
    this.#at = end;
    return numberFromLiteral(this.#text.slice(start, end));
  }
}
