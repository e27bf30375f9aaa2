import { z } from "zod";
import { definitionOf } from "./schema-walk.js";

/** Value of a mark that a schema, or one that it wraps, carries; undefined when there is none. */
export function markOf(schema: z.core.$ZodType, mark: string): unknown {
  for (let current: z.core.$ZodType | undefined = schema; current !== undefined; ) {
    const value = (z.globalRegistry.get(current) as Record<string, unknown> | undefined)?.[mark];
    if (value !== undefined) return value;
    const definition: Readonly<Record<string, unknown>> = definitionOf(current);
    current = definition["innerType"] as z.core.$ZodType | undefined;
  }
  return undefined;
}
