import { z } from "zod";

/** The parts of a JSON Schema that say what a value may be. */
export interface KindSchema {
  readonly type?: string | readonly string[] | undefined;
  readonly enum?: readonly unknown[] | undefined;
  readonly const?: unknown;
  readonly anyOf?: readonly KindSchema[] | undefined;
  readonly minimum?: number | undefined;
  readonly maximum?: number | undefined;
  readonly exclusiveMinimum?: number | undefined;
  readonly maxLength?: number | undefined;
  readonly maxItems?: number | undefined;
  readonly items?: unknown;
  readonly properties?: unknown;
}

const integerLimit = Number.MAX_SAFE_INTEGER;

function range(schema: KindSchema): string {
  const over = schema.exclusiveMinimum;
  const from = schema.minimum !== undefined && schema.minimum > -integerLimit ? schema.minimum : undefined;
  const to = schema.maximum !== undefined && schema.maximum < integerLimit ? schema.maximum : undefined;
  if (over !== undefined) return to === undefined ? ` above ${over}` : ` above ${over}, up to ${to}`;
  if (from !== undefined && to !== undefined) return ` from ${from} to ${to}`;
  if (from !== undefined) return ` of at least ${from}`;
  return to === undefined ? "" : ` of at most ${to}`;
}

function kindOfType(type: string, schema: KindSchema): string {
  switch (type) {
    case "integer":
      return `a whole number${range(schema)}`;
    case "number":
      return `a number${range(schema)}`;
    case "boolean":
      return "true or false";
    case "array":
      return schema.maxItems === undefined ? "a list" : `a list of up to ${schema.maxItems} entries`;
    case "object":
      return schema.properties === undefined ? "a mapping of names to values" : "a section with keys";
    case "null":
      return "null";
    default:
      return schema.maxLength === undefined || schema.maxLength >= 4096 ? "text" : `text of up to ${schema.maxLength} characters`;
  }
}

/** Says in words what a JSON Schema allows: "a whole number from 1 to 64", "one of none, full, equal". */
export function describeKind(schema: KindSchema): string {
  if (schema.enum !== undefined) return `one of ${schema.enum.join(", ")}`;
  if (schema.const !== undefined) return String(schema.const);
  if (schema.anyOf !== undefined) {
    const kinds = [...new Set(schema.anyOf.map(describeKind))];
    if (kinds.every((kind) => /^\d+$/.test(kind))) return `one of ${kinds.join(", ")}`;
    return kinds.join(" or ");
  }
  const types = typeof schema.type === "string" ? [schema.type] : (schema.type ?? []);
  return types.length === 0 ? "a value" : types.map((type) => kindOfType(type, schema)).join(" or ");
}

/** Says in words what a zod schema expects in a file. */
export function describeExpected(schema: z.core.$ZodType): string {
  const json = z.toJSONSchema(schema as z.ZodType, { io: "input", unrepresentable: "any", reused: "inline" });
  return describeKind(json as unknown as KindSchema);
}
