import { z } from "zod";
import { distinct, integer, plainText } from "../scalar.js";
import { subjectPattern } from "../subject-schema.js";

const missionKey = z.string().regex(/^[A-Za-z][A-Za-z0-9_.:-]{0,127}$/, { error: "must be a key of mission metadata" });

/** `pre_sink_policy`: what every message must have before a sink sees it (FW-CFG-16). */
export const preSinkPolicySection = z
  .strictObject({
    enabled: z.boolean().default(false).describe("Check messages before any sink sees them; not part of this release."),
    unmatched_subject_action: z.enum(["reject", "allow"]).default("reject").describe("What becomes of messages that no rule is for."),
    rules: z
      .array(
        z
          .strictObject({
            subject: subjectPattern().default(">").describe("Messages that this rule is for."),
            require_priority: z.boolean().default(false).describe("A priority must be there."),
            require_classification: z.boolean().default(false).describe("A classification must be there."),
            required_labels: distinct(plainText(128), 64).default([]).describe("Labels that must be there."),
            require_mission_metadata: z.boolean().default(false).describe("Mission metadata must be there."),
            require_encrypted_payload: z.boolean().default(false).describe("The payload must be encrypted."),
            max_payload_bytes: integer(0, 1_073_741_824).nullable().default(null).describe("Largest body."),
            allowed_mission_metadata_keys: distinct(missionKey, 128)
              .nullable()
              .default(null)
              .describe("Root keys that mission metadata may have."),
          })
          .refine(
            (rule) =>
              rule.require_priority ||
              rule.require_classification ||
              rule.required_labels.length > 0 ||
              rule.require_mission_metadata ||
              rule.require_encrypted_payload ||
              rule.max_payload_bytes !== null ||
              rule.allowed_mission_metadata_keys !== null,
            { error: "must have at least one check" },
          ),
      )
      .max(256)
      .default([])
      .describe("Rules; every one that matches applies."),
  })
  .prefault({})
  .describe("What every message must have before a sink sees it; not part of this release.");
