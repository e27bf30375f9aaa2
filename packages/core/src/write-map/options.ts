import { z } from "zod";
import { matchSchema } from "../config/match-schema.js";
import { isPlainRecord } from "../config/plain-record.js";
import { compileWriteMap } from "./compile.js";
import { destinationChoice } from "./destination-choice.js";
import { isReference } from "./reference-path.js";
import { type DeclaredTexts, fieldsOf, type WriteField, type WriteVocabulary } from "./vocabulary.js";

const reference = { type: "string", pattern: "^:[^:]" } as const;

/** A mapping, names kept as they are: zod's own record would drop a member `__proto__` in silence. */
const record = (whole: boolean) =>
  z
    .custom<Readonly<Record<string, unknown>> | string>((value) => isPlainRecord(value) || (whole && isReference(value)), {
      error: whole ? "must be a mapping, or one reference to an object" : "must be a mapping; only its values can be references",
    })
    .meta(whole ? { anyOf: [{ type: "object" }, reference] } : { type: "object" });

const list = (whole: boolean) =>
  whole
    ? z.union([z.array(z.unknown()), z.string().regex(/^:[^:]/, { error: "must be a list, or one reference to a list" })])
    : z.array(z.unknown());

function schemaOf(field: WriteField): z.ZodType {
  const whole = field.wholeReference === true;
  if (field.kind === "record") return record(whole);
  return field.kind === "list" ? list(whole) : (field.schema ?? z.unknown());
}

function ruleShape({ operations, defaultOperation }: WriteVocabulary) {
  const shape: Record<string, z.ZodType> = {
    when: matchSchema.optional().describe("Which messages the rule is for; all by default."),
    each: z.string().min(2).optional().describe("Reference to a list: one payload for each of its elements, `:item`, at `:index`."),
    op: z
      .enum(Object.keys(operations) as [string, ...string[]])
      .optional()
      .describe(`Operation; \`${defaultOperation}\` by default.`),
  };
  const fields = Object.values(operations).flatMap((operation) => Object.entries(fieldsOf(operation)));
  for (const [name, field] of fields) {
    shape[name] ??= schemaOf(field).optional().describe(field.description);
    if (field.chosenBy !== undefined)
      shape[field.chosenBy] ??= destinationChoice.optional().describe(`In place of \`${name}\`: a token of the subject names it.`);
  }
  return shape;
}

/** The three option keys of a write map (FW-MAP-01), for the options of a connector with this vocabulary. */
export function writeMapOptions(vocabulary: WriteVocabulary) {
  return {
    write: z
      .array(z.strictObject(ruleShape(vocabulary)))
      .min(1)
      .max(256)
      .optional()
      .describe("Rules that make write operations of a message."),
    write_mode: z.enum(["all", "first"]).default("all").describe("Every rule that matches applies, or only the first."),
    no_write_match: z
      .enum(["reject", "ignore"])
      .default("reject")
      .describe("A message that no rule matches is rejected, or acknowledged and counted."),
  };
}

/**
 * The check of a connector's options that finds what a schema cannot say of a write map (FW-MAP-07): `options.check(…)`. It
 * runs beside the other rules of the options, so that all faults are reported together. Both functions get options that may be
 * invalid; `declared` gives null when it cannot tell.
 */
export function checkWriteMap(
  vocabularyOf: (options: Readonly<Record<string, unknown>>) => WriteVocabulary,
  declared: (options: Readonly<Record<string, unknown>>) => DeclaredTexts | null = () => ({}),
): z.core.$ZodCheck<Readonly<Record<string, unknown>>> {
  const check = z.superRefine<Readonly<Record<string, unknown>>>((options, context) => {
    const write: unknown = isPlainRecord(options) ? options["write"] : undefined;
    if (!Array.isArray(write)) return;
    const compiled = compileWriteMap(
      { write, write_mode: "all", no_write_match: "reject" },
      vocabularyOf(options),
      declared(options) ?? {},
    );
    if (!("faults" in compiled)) return;
    for (const { path, message, ofSchema } of compiled.faults) {
      if (ofSchema !== true) context.addIssue({ code: "custom", path: [...path], message });
    }
  });
  // Without it the check would wait until every other key is right.
  check._zod.def.when = () => true;
  return check;
}
