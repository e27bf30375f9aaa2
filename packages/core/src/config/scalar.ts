import { z } from "zod";

const controls = /^[^\u0000-\u001f\u007f]*$/;

/** A whole number in an inclusive range. */
export function integer(minimum: number, maximum: number = Number.MAX_SAFE_INTEGER): z.ZodInt {
  return z.int().min(minimum).max(maximum);
}

/** A number, fractions allowed, in an inclusive range. */
export function amount(minimum: number, maximum: number): z.ZodNumber {
  return z.number().min(minimum).max(maximum);
}

/** Non-blank text without control characters. */
export function plainText(maximum: number): z.ZodString {
  return z
    .string()
    .max(maximum)
    .regex(/\S/, { error: "must not be blank" })
    .regex(controls, { error: "must not contain control characters" });
}

/** Path of a file or folder. */
export function path(): z.ZodString {
  return plainText(4096);
}

/** Name of a message header. */
export function headerName(): z.ZodString {
  return z
    .string()
    .max(256)
    .regex(/^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/, { error: "must be a header name: letters, digits and !#$%&'*+-.^_`|~" });
}

/** A list without repeats. */
export function distinct<Item extends z.ZodType<string>>(item: Item, maximum: number): z.ZodArray<Item> {
  return z
    .array(item)
    .max(maximum)
    .refine((values) => new Set(values).size === values.length, { error: "must not repeat an entry" });
}
