import { z } from "zod";
import { secretMarks } from "../option/secret.js";
import { markOf } from "./schema-mark.js";
import { acceptsNull, definitionOf, unwrap } from "./schema-walk.js";

/** The value that an override's text means, or that it cannot be written as text. */
export type ConvertedText = { readonly value: unknown } | { readonly fault: string };

const truths: ReadonlyMap<string, boolean> = new Map([
  ["true", true],
  ["1", true],
  ["yes", true],
  ["on", true],
  ["false", false],
  ["0", false],
  ["no", false],
  ["off", false],
]);

function asNumber(text: string): ConvertedText {
  const trimmed = text.trim();
  const value = Number(trimmed);
  if (!/^[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?$/.test(trimmed) || !Number.isFinite(value)) return { fault: "expected a number" };
  return { value };
}

function asBoolean(text: string): ConvertedText {
  const value = truths.get(text.trim().toLowerCase());
  return value === undefined ? { fault: "expected true or false" } : { value };
}

function asChoice(text: string, choices: readonly unknown[]): ConvertedText {
  const wanted = text.trim().toLowerCase();
  const found = choices.find((choice) => String(choice).toLowerCase() === wanted);
  return { value: found === undefined ? text : found };
}

function asUnion(text: string, options: readonly z.core.$ZodType[]): ConvertedText {
  const converted = options.map((option) => ({ option, result: convertText(text, option) }));
  const fitting = converted.find(({ option, result }) => "value" in result && z.safeParse(option, result.value).success);
  return (fitting ?? converted.find(({ result }) => "value" in result) ?? converted[0])?.result ?? { fault: "expected another value" };
}

/**
 * Converts an override's text by the declared type of its key (FW-CFG-02): numbers, `true`/`false` (also 1/0, yes/no,
 * on/off), words of a choice in any case, text as it is, and `null` for keys that may be null. Lists and sections have
 * no text form.
 */
export function convertText(text: string, schema: z.core.$ZodType): ConvertedText {
  if (text === "null" && acceptsNull(schema) && markOf(schema, secretMarks.secret) === undefined) return { value: null };
  const target = unwrap(schema);
  const definition = definitionOf(target);
  switch (definition.type) {
    case "number":
    case "int":
      return asNumber(text);
    case "boolean":
      return asBoolean(text);
    case "enum":
      return asChoice(text, Object.values(definition["entries"] as Record<string, unknown>));
    case "literal":
      return asChoice(text, definition["values"] as readonly unknown[]);
    case "union":
      return asUnion(text, definition["options"] as readonly z.core.$ZodType[]);
    case "array":
    case "object":
    case "record":
    case "tuple":
      return { fault: "has no form as a single text" };
    default:
      return { value: text };
  }
}
