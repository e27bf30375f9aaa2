import type { z } from "zod";

/** Mark of a key whose default depends on other keys; its text says how. */
export const derivedDefaultMark = "x-sinks-default";

/** A key that is null until its default has been derived from other keys. */
export function derivedDefault<Schema extends z.ZodType>(schema: Schema, rule: string): z.ZodDefault<z.ZodNullable<Schema>> {
  return schema
    .nullable()
    .default(null as never)
    .meta({ [derivedDefaultMark]: rule });
}
