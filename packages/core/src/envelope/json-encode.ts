import { isErrorKind, SerializationError } from "../error/errors.js";
import { isNumberToken } from "./json.js";
import { isExactNumber } from "./number-literal.js";

/** Deeper values are refused; a value that contains itself ends here too. */
const maximumDepth = 1000;
/** Most characters of the path in an error. */
const longestPath = 200;
const plain = /^[ !#-[\]-~]*$/;
const loneSurrogate = /\p{Surrogate}/u;

/** A JSON string literal of a text. */
export function quoteJson(text: string): string {
  return plain.test(text) ? `"${text}"` : JSON.stringify(text);
}

/** True when a text holds half of a surrogate pair, which no UTF-8 can carry. */
export function hasLoneSurrogate(text: string): boolean {
  return loneSurrogate.test(text);
}

/**
 * JSON text without white space, members in the order given. `bigint` and number tokens keep their digits, a `Date` of the
 * years 1 to 9999 is ISO UTC with milliseconds, a `Uint8Array` standard base64. Throws `SerializationError` with the path for anything that JSON
 * does not hold exactly: undefined, functions, symbols, NaN, infinities, integers beyond 2^53 in a number, lone surrogates,
 * sparse arrays, cycles and objects of other classes. `toJSON` is never called.
 */
export function encodeJson(value: unknown): string {
  return encodeRoot(value, false);
}

/** The same with the members of every object sorted by UTF-16 code units: equal values give equal texts. */
export function encodeCanonicalJson(value: unknown): string {
  return encodeRoot(value, true);
}

/** The way to the value at hand; null on the first pass, which keeps none. */
type Path = (string | number)[] | null;

/** The path is needed for an error only, so it is kept by a second pass over a value that the first one refused. */
function encodeRoot(value: unknown, sorted: boolean): string {
  try {
    return encode(value, sorted, null, 0);
  } catch (error) {
    if (!isErrorKind(error, "SerializationError")) throw error;
    return encode(value, sorted, [], 0);
  }
}

function encode(value: unknown, sorted: boolean, path: Path, depth: number): string {
  switch (typeof value) {
    case "string":
      if (plain.test(value)) return `"${value}"`;
      if (hasLoneSurrogate(value)) throw refusal(path, "holds a lone surrogate");
      return JSON.stringify(value);
    case "number":
      if (!isExactNumber(value))
        throw refusal(path, Number.isFinite(value) ? "is an integer beyond 2^53 in a number (use bigint)" : "is not finite");
      return String(value);
    case "bigint":
      return value.toString();
    case "boolean":
      return value ? "true" : "false";
    case "object":
      return value === null ? "null" : encodeObject(value, sorted, path, depth + 1);
    default:
      throw refusal(path, `is ${typeof value === "undefined" ? "undefined" : `a ${typeof value}`}`);
  }
}

function encodeObject(value: object, sorted: boolean, path: Path, depth: number): string {
  if (depth > maximumDepth) throw refusal(path?.slice(0, 8) ?? null, "is nested too deeply or contains itself");
  if (Array.isArray(value)) return encodeArray(value, sorted, path, depth);
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype === Object.prototype || prototype === null) return encodeMembers(value as Record<string, unknown>, sorted, path, depth);
  if (isNumberToken(value)) return value.text;
  if (value instanceof Date) {
    const year = value.getUTCFullYear();
    if (Number.isNaN(year)) throw refusal(path, "is an invalid date");
    if (year < 1 || year > 9999) throw refusal(path, "is a date outside the years 1 to 9999");
    return `"${value.toISOString()}"`;
  }
  if (value instanceof Uint8Array) return `"${Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString("base64")}"`;
  throw refusal(path, "is an object of a class that JSON does not know");
}

function encodeArray(values: readonly unknown[], sorted: boolean, path: Path, depth: number): string {
  let text = "[";
  for (let position = 0; position < values.length; position += 1) {
    path?.push(position);
    text += (position === 0 ? "" : ",") + encode(values[position], sorted, path, depth);
    path?.pop();
  }
  return `${text}]`;
}

function encodeMembers(members: Record<string, unknown>, sorted: boolean, path: Path, depth: number): string {
  const names = Object.keys(members);
  if (sorted) names.sort();
  let text = "{";
  for (const name of names) {
    path?.push(name);
    const quoted = plain.test(name) ? `"${name}"` : quoteName(name, path);
    text += `${text.length === 1 ? "" : ","}${quoted}:${encode(members[name], sorted, path, depth)}`;
    path?.pop();
  }
  return `${text}}`;
}

function quoteName(name: string, path: Path): string {
  if (hasLoneSurrogate(name)) throw refusal(path, "has a name with a lone surrogate");
  return JSON.stringify(name);
}

function refusal(path: Path, reason: string): SerializationError {
  const place = (path ?? []).map((step) => (typeof step === "number" ? `[${step}]` : `.${step}`)).join("");
  return new SerializationError(`the value at $${printable(place)} ${reason}`);
}

/** Names come from messages: a report of them stays short and can itself be written as JSON. */
function printable(place: string): string {
  return place.slice(0, longestPath).replace(/[\p{Surrogate}\p{Cc}]/gu, "\ufffd");
}
