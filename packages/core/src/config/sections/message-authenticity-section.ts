import { z } from "zod";
import { secretOption } from "../../option/secret.js";
import { amount, distinct, headerName, plainText } from "../scalar.js";
import { subjectPattern } from "../subject-schema.js";

/** `message_authenticity`: signatures of publishers (FW-CFG-15). */
export const messageAuthenticitySection = z
  .strictObject({
    enabled: z.boolean().default(false).describe("Check signatures of publishers; not part of this release."),
    unmatched_subject_action: z.enum(["reject", "allow"]).default("reject").describe("What becomes of messages that no rule is for."),
    signature_header: headerName().default("Nats-Sinks-Authenticity-Signature").describe("Header of the signature."),
    algorithm_header: headerName().default("Nats-Sinks-Authenticity-Algorithm").describe("Header of the algorithm."),
    key_id_header: headerName().default("Nats-Sinks-Authenticity-Key-Id").describe("Header of the key's name."),
    rules: z
      .array(
        z.strictObject({
          subject: subjectPattern().describe("Messages that this rule is for."),
          enabled: z.boolean().default(true).describe("Use this rule."),
          algorithm: z.enum(["hmac-sha256", "ed25519"]).default("hmac-sha256").describe("Algorithm of the signature."),
          key_id: plainText(128).describe("Name of the key."),
          ...secretOption("key_b64", "Key in base64: 32 to 1024 bytes for HMAC, 32 for Ed25519."),
          signed_fields: distinct(plainText(128), 64)
            .min(1)
            .default(["subject", "message_id"])
            .describe("Fields that the signature covers besides the payload."),
          max_age_seconds: amount(0, 31_536_000).nullable().default(null).describe("Age from which a signature is refused."),
        }),
      )
      .max(256)
      .default([])
      .describe("Keys by subject; all that match are candidates."),
  })
  .prefault({})
  .describe("Signatures of publishers; not part of this release.");
