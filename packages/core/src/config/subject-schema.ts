import { z } from "zod";
import { isLiteralSubject, isSubject } from "./subject-grammar.js";

/** A subject that may hold wildcards. */
export function subjectPattern(): z.ZodString {
  return z.string().refine(isSubject, { error: "must be a subject: tokens between dots, `*` for one token, `>` last for the rest" });
}

/** A subject without wildcards. */
export function literalSubject(): z.ZodString {
  return z.string().refine(isLiteralSubject, { error: "must be a subject without wildcards" });
}

/** Name of a stream or consumer. */
export function entityName(): z.ZodString {
  return z
    .string()
    .min(1)
    .max(255)
    .regex(/^[^\s.*>/\\\u0000-\u001f\u007f]*$/, { error: "must not contain spaces, control characters or any of . * > / \\" });
}
