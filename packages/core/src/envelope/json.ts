const brand: unique symbol = Symbol.for("sinks.number-token") as never;

/** A number whose digits a double cannot hold; it travels as its own spelling (FW-MAP-05). */
export class NumberToken {
  /** The JSON literal, digit for digit. */
  readonly text: string;
  /** @internal Recognised by brand, so that two installed copies agree. */
  readonly [brand]: true = true;

  constructor(text: string) {
    if (!/^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?$/.test(text)) throw new RangeError("a number token takes a JSON number");
    this.text = text;
    Object.freeze(this);
  }

  toString(): string {
    return this.text;
  }
}

/** A JSON value without loss: integers beyond 2^53 are `bigint`, numbers no double can hold are `NumberToken`. */
export type JsonValue = null | boolean | string | number | bigint | NumberToken | JsonArray | JsonObject;

/** A JSON array. */
export type JsonArray = readonly JsonValue[];

/** A JSON object; every member is an own property, also one named `__proto__`. */
export interface JsonObject {
  readonly [name: string]: JsonValue;
}

/** True for a number token, also one made by another installed copy. */
export function isNumberToken(value: unknown): value is NumberToken {
  return typeof value === "object" && value !== null && (value as Record<symbol, unknown>)[brand] === true;
}

/** True for a JSON object: neither null, nor an array, nor a number token. */
export function isJsonObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !isNumberToken(value);
}

/** Sets an own member whatever its name is: plain assignment of `__proto__` would change the prototype instead. */
export function setMember(object: Record<string, unknown>, name: string, value: unknown): void {
  if (name === "__proto__") Object.defineProperty(object, name, { value, enumerable: true, configurable: true, writable: true });
  else object[name] = value;
}
