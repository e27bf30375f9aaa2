import { isNumberToken } from "@sinks/core";

// What JSON.stringify leaves as it is, although a terminal acts on it.
const unsafe = /[\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g;

/**
 * JSON that is safe to print: controls stand as JSON escapes, which any reader undoes. Integers beyond 2^53 and long
 * decimals keep their digits. With an indent, members and entries stand on lines of their own.
 */
export function jsonText(value: unknown, indent = 0): string {
  return encode(value, indent, 0);
}

function encode(value: unknown, indent: number, level: number): string {
  if (typeof value === "bigint" || isNumberToken(value)) return value.toString();
  if (typeof value !== "object" || value === null) return scalar(value);
  // Secrets print themselves as `[redacted]`.
  if ("toJSON" in value && typeof value.toJSON === "function") return encode(value.toJSON(), indent, level);
  if (Array.isArray(value))
    return block(
      "[",
      value.map((entry) => encode(entry, indent, level + 1)),
      "]",
      indent,
      level,
    );
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  const separator = indent > 0 ? ": " : ":";
  return block(
    "{",
    members.map(([name, member]) => `${scalar(name)}${separator}${encode(member, indent, level + 1)}`),
    "}",
    indent,
    level,
  );
}

function block(open: string, parts: readonly string[], close: string, indent: number, level: number): string {
  if (parts.length === 0 || indent === 0) return `${open}${parts.join(",")}${close}`;
  const inner = `\n${" ".repeat(indent * (level + 1))}`;
  return `${open}${inner}${parts.join(`,${inner}`)}\n${" ".repeat(indent * level)}${close}`;
}

function scalar(value: unknown): string {
  const text = JSON.stringify(value) ?? "null";
  return text.replace(unsafe, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`);
}
