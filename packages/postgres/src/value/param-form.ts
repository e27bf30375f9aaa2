import { isIP } from "node:net";
import type { ScalarType } from "./param-type.js";

const integers: Readonly<Partial<Record<ScalarType, bigint>>> = { int2: 2n ** 15n, int4: 2n ** 31n, int8: 2n ** 63n };
const integerForm = /^[+-]?[0-9]{1,40}$/;
const decimalForm = /^[+-]?(?:([0-9]+)(?:\.([0-9]*))?|\.([0-9]+))(?:[eE]([+-]?[0-9]{1,9}))?$/;
const nonFiniteForm = /^(?:NaN|[+-]?Infinity)$/i;
const boolForm = /^(?:true|false|t|f|yes|no|y|n|on|off|1|0)$/i;
const uuidForm = /^(?:[0-9a-f]{4}-?){7}[0-9a-f]{4}$/i;
const byteaForm = /^\\x(?:[0-9a-f]{2})*$/i;
const infiniteTime = /^-?infinity$/i;
const timeForm = /^(\d{4,6})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:\.\d{1,20})?)?\s?(?:Z|[+-]\d\d(?::?\d\d(?::?\d\d)?)?)?)?$/i;
const isoInterval = /^[+-]?P(?=[\dT+-])(?:[+-]?\d+(?:\.\d+)?[YMWD])*(?:T(?:[+-]?\d+(?:\.\d+)?[HMS])+)?$/i;
const interval = /^(?:\s*[+-]?(?:\d+(?:\.\d+)?\s*[a-z]+|\d+:\d\d(?::\d\d(?:\.\d+)?)?|\d+-\d+))+(?:\s+ago)?\s*$/i;

/** Digits that a numeric holds before and after its point. */
const numericWhole = 131_072;
const numericFraction = 16_383;
/** No interval needs more; the form is looked at in bounded time whatever a message holds. */
const longestInterval = 200;

/** What keeps a text from being a value of a declared type, before the server sees it; null when nothing does (WO-PGS-18). */
export function formFault(text: string, type: ScalarType): string | null {
  switch (type) {
    case "bool":
      return boolForm.test(text) ? null : "is no bool";
    case "int2":
    case "int4":
    case "int8":
      return integerFault(text, integers[type] as bigint, type);
    case "float4":
    case "float8":
      return floatFault(text, type);
    case "numeric":
      return numericFault(text);
    case "uuid":
      return uuidForm.test(text.startsWith("{") && text.endsWith("}") ? text.slice(1, -1) : text) ? null : "is no uuid";
    case "date":
    case "timestamp":
    case "timestamptz":
      return timeFault(text, type);
    case "interval":
      return text.length <= longestInterval && (interval.test(text) || isoInterval.test(text)) ? null : "is no interval";
    case "bytea":
      return byteaForm.test(text) ? null : "is no bytea: give bytes, or hexadecimal text after \\x";
    case "inet":
      return isAddress(text) ? null : "is no inet";
    default:
      return null;
  }
}

function integerFault(text: string, limit: bigint, type: ScalarType): string | null {
  if (!integerForm.test(text)) return `is no ${type}`;
  const value = BigInt(text.startsWith("+") ? text.slice(1) : text);
  return value >= -limit && value < limit ? null : `is out of the range of ${type}`;
}

function floatFault(text: string, type: "float4" | "float8"): string | null {
  if (nonFiniteForm.test(text)) return null;
  if (!decimalForm.test(text)) return `is no ${type}`;
  const size = Math.abs(Number(text));
  const held = type === "float8" ? size : Math.fround(size);
  const vanishes = held === 0 && /[1-9]/.test(text.split(/e/i)[0] as string);
  return Number.isFinite(held) && !vanishes ? null : `is out of the range of ${type}`;
}

function numericFault(text: string): string | null {
  if (nonFiniteForm.test(text)) return null;
  const found = decimalForm.exec(text);
  if (found === null) return "is no numeric";
  const [, whole = "", fraction = "", bare = ""] = found;
  const power = Number(found[4] ?? 0);
  const wholeDigits = whole.replace(/^0+/, "").length + power;
  const fractionDigits = (fraction + bare).length - power;
  return wholeDigits <= numericWhole && fractionDigits <= numericFraction ? null : "is out of the range of numeric";
}

function timeFault(text: string, type: ScalarType): string | null {
  if (infiniteTime.test(text)) return null;
  const found = timeForm.exec(text);
  if (found === null) return `is no ${type}: write YYYY-MM-DD, and after it a time where there is one`;
  const [year, month, day, hour = 0, minute = 0, second = 0] = found
    .slice(1)
    .map((part) => (part === undefined ? undefined : Number(part)));
  const last = new Date(Date.UTC(2000 + (Number(year) % 400), Number(month), 0)).getUTCDate();
  const valid = Number(year) > 0 && Number(month) >= 1 && Number(month) <= 12 && Number(day) >= 1 && Number(day) <= last;
  const clock = hour < 24 ? minute < 60 && second <= 60 : hour === 24 && minute === 0 && second === 0;
  return valid && clock ? null : `is no ${type}: there is no such day or time`;
}

function isAddress(text: string): boolean {
  const [address = "", bits, ...rest] = text.split("/");
  const version = address.includes("%") ? 0 : isIP(address);
  if (version === 0 || rest.length > 0) return false;
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (version === 4 ? 32 : 128));
}
