import { z } from "zod";
import { distinct, headerName, plainText } from "./scalar.js";
import { isSecretHeader } from "./secret-header.js";
import { subjectPattern } from "./subject-schema.js";

const values = (what: string) => distinct(plainText(512), 128).min(1).optional().describe(what);

/** Which messages a route or rule is for: all criteria given must hold (FW-RTE-01). */
export const matchSchema = z
  .strictObject({
    subject: subjectPattern().optional().describe("Subject of the message; `*` is one token, `>` the rest."),
    priority: values("Any of these priorities."),
    classification: values("Any of these classifications."),
    labels_all: values("All of these labels."),
    labels_any: values("At least one of these labels."),
    labels_none: values("None of these labels."),
    headers: z
      .array(
        z.strictObject({
          name: headerName()
            .refine((name) => !isSecretHeader(name), { error: "must not be a header that carries secrets" })
            .describe("Name of the header, in any case."),
          values: distinct(plainText(2048), 128).min(1).describe("Any of these values, exactly."),
        }),
      )
      .min(1)
      .max(32)
      .optional()
      .describe("Each of these headers with one of its values."),
  })
  .refine((match) => Object.values(match).some((criterion) => criterion !== undefined), { error: "must have at least one criterion" })
  .refine((match) => !(match.labels_all ?? []).some((label) => (match.labels_none ?? []).includes(label)), {
    error: "must not name a label both in labels_all and labels_none",
  })
  .describe("Which messages are meant; all criteria must hold.");
