import { z } from "zod";
import { distinct, headerName, integer, plainText } from "../scalar.js";
import { subjectPattern } from "../subject-schema.js";

const text = plainText(512).nullable().optional();
const list = distinct(
  plainText(512).refine((item) => !item.includes(";"), { error: "must not contain `;`" }),
  128,
).optional();

const securityLabel = z.strictObject({
  profile: z.literal("nats-sinks.security-label.v1").optional(),
  priority: text,
  classification: text,
  owner: text,
  originator: text,
  policy_id: text,
  retention_category: text,
  labels: list,
  releasability: list,
  handling_caveats: list,
  extensions: z.record(z.string(), z.json()).optional(),
});

/** `security_labels`: handling rules carried beside the payload (FW-CFG-11, FW-META-08). */
export const securityLabelsSection = z
  .strictObject({
    enabled: z.boolean().default(false).describe("Read security labels from messages; not part of this release."),
    header: headerName().default("Nats-Sinks-Security-Labels").describe("Header that holds the JSON object."),
    default: securityLabel.nullable().default(null).describe("Labels of messages without the header and without a rule."),
    rules: z
      .array(
        z.strictObject({
          subject: subjectPattern().describe("Messages that this rule is for."),
          labels: securityLabel.nullable().describe("Labels by this rule; null says none."),
        }),
      )
      .max(256)
      .default([])
      .describe("Defaults by subject; the first match counts."),
    max_bytes: integer(1, 262_144).default(8192).describe("Largest object, in bytes."),
    allowed_classifications: distinct(plainText(512), 128).default([]).describe("Classifications that are accepted; empty accepts all."),
    allowed_releasability: distinct(plainText(512), 128).default([]).describe("Releasability marks that are accepted; empty accepts all."),
    allowed_handling_caveats: distinct(plainText(512), 128).default([]).describe("Handling caveats that are accepted; empty accepts all."),
  })
  .prefault({})
  .describe("Handling rules carried beside the payload; not part of this release.");
