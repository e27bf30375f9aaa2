import { isNumberToken, isPlainRecord } from "@sinks/core";
import { ValueFault } from "./value-fault.js";

/** What becomes of U+0000, which no text of PostgreSQL holds (WO-VAL-04). */
export type NulPolicy = "reject" | "strip";

/** Numbers from here on print with an exponent: no digit is shown that the double does not hold. */
const firstExponentForm = 1e21;
/** Length of `YYYY-MM-DDTHH:MM:SS.nnnnnnnnnZ`, the form of `:timestamp`, and of its part up to the microsecond. */
const nanosecondForm = 30;
const microsecondForm = 26;

/**
 * Text of a single value; null is NULL, undefined says that the value is an array or a plain record, whose text depends on
 * its type. Throws `ValueFault` for what is no value at all (WO-VAL-01..06, -10).
 */
export function scalarText(value: unknown, nul: NulPolicy): string | null | undefined {
  switch (typeof value) {
    case "string":
      return plainText(value, nul);
    case "number":
      return numberText(value);
    case "bigint":
      return value.toString();
    case "boolean":
      return value ? "true" : "false";
    case "object":
      return value === null ? null : objectText(value);
    default:
      throw new ValueFault(typeof value === "undefined" ? "is undefined" : `is a ${typeof value}`);
  }
}

/** A text as it is bound: without U+0000 and with whole surrogate pairs only (WO-VAL-04, -05). */
export function plainText(text: string, nul: NulPolicy): string {
  if (!text.isWellFormed()) throw new ValueFault("holds a lone surrogate");
  if (!text.includes("\0")) return text;
  if (nul === "reject") throw new ValueFault("holds U+0000");
  return text.replaceAll("\0", "");
}

/** Cuts a time with nine decimals to microseconds, where the server would round it (WO-VAL-06). */
export function cutToMicroseconds(text: string): string {
  if (text.length !== nanosecondForm || text[19] !== "." || text[nanosecondForm - 1] !== "Z") return text;
  return `${text.slice(0, microsecondForm)}Z`;
}

function numberText(value: number): string {
  if (!Number.isFinite(value)) throw new ValueFault("is not finite");
  if (Number.isInteger(value) && !Number.isSafeInteger(value) && Math.abs(value) < firstExponentForm) {
    throw new ValueFault("is an integer beyond 2^53 in a number (use bigint)");
  }
  return String(value);
}

function objectText(value: object): string | undefined {
  if (Array.isArray(value) || isPlainRecord(value)) return undefined;
  if (isNumberToken(value)) return value.text;
  if (value instanceof Date) return dateText(value);
  if (value instanceof Uint8Array) return `\\x${Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString("hex")}`;
  throw new ValueFault("is an object of a class that PostgreSQL does not know");
}

function dateText(value: Date): string {
  const year = value.getUTCFullYear();
  if (Number.isNaN(year)) throw new ValueFault("is an invalid date");
  if (year < 1 || year > 9999) throw new ValueFault("is a date outside the years 1 to 9999");
  return value.toISOString();
}
