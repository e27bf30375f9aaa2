import { z } from "zod";
import { subjectToken } from "./subject-token.js";

/** A destination named by a token of the subject, out of an allow-list (WO-ENV-06). */
export const destinationChoice = z.strictObject({
  token: z.int().min(1).max(256).describe("Which token of the subject names the destination, from 1."),
  allow: z
    .array(z.string().min(1))
    .min(1)
    .max(1000)
    .refine((names) => new Set(names).size === names.length, { error: "must not repeat an entry" })
    .describe("Names that the token may have; any other rejects the message."),
});

/** Validated `table_by` or `collection_by`. */
export type DestinationChoice = z.output<typeof destinationChoice>;

/** Compiles a choice to a function from subject to destination; null for a token that is missing or not allowed. */
export function compileDestinationChoice({ token, allow }: DestinationChoice): (subject: string) => string | null {
  const allowed = new Map(allow.map((name) => [name, name]));
  return (subject) => {
    const found = subjectToken(subject, token);
    return found === null ? null : (allowed.get(found) ?? null);
  };
}
