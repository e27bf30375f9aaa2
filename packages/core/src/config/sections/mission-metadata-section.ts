import { z } from "zod";
import { distinct, headerName, integer, plainText } from "../scalar.js";
import { subjectPattern } from "../subject-schema.js";

const jsonObject = z.record(z.string(), z.json());

/** `mission_metadata`: a JSON object carried beside the payload (FW-CFG-11, FW-META-07). */
export const missionMetadataSection = z
  .strictObject({
    enabled: z.boolean().default(false).describe("Read mission metadata from messages; not part of this release."),
    header: headerName().default("Nats-Sinks-Mission-Metadata").describe("Header that holds the JSON object."),
    default: jsonObject.nullable().default(null).describe("Object of messages without the header and without a rule."),
    rules: z
      .array(
        z.strictObject({
          subject: subjectPattern().describe("Messages that this rule is for."),
          metadata: jsonObject.nullable().describe("Object by this rule; null says none."),
        }),
      )
      .max(256)
      .default([])
      .describe("Defaults by subject; the first match counts."),
    max_bytes: integer(1, 262_144).default(8192).describe("Largest object, in bytes."),
    allowed_profiles: distinct(plainText(255), 128).default([]).describe("Profiles that are accepted; empty accepts all."),
  })
  .prefault({})
  .describe("A JSON object carried beside the payload; not part of this release.");
