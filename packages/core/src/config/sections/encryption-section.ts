import { z } from "zod";
import { secretOption } from "../../option/secret.js";
import { integer, plainText } from "../scalar.js";
import { subjectPattern } from "../subject-schema.js";

const algorithm = z.enum(["aes-256-gcm", "aes-256-ccm"]);
const tagLength = z.literal([4, 6, 8, 10, 12, 14, 16]);

/** `encryption`: payloads are encrypted before any sink sees them (FW-CFG-14). */
export const encryptionSection = z
  .strictObject({
    enabled: z.boolean().default(false).describe("Encrypt payloads that no rule is for; not part of this release."),
    algorithm: algorithm.default("aes-256-gcm").describe("Cipher of new documents."),
    key_id: plainText(128).default("default").describe("Name of the key, stored with each document."),
    ...secretOption("key_b64", "Key of 32 bytes in base64."),
    nonce_size_bytes: integer(7, 13).default(12).describe("Bytes of the nonce: 12 for GCM, 11 to 13 for CCM."),
    tag_length: tagLength.default(16).describe("Bytes of the tag: 16 for GCM, 12 to 16 for CCM."),
    format_version: z.literal([1, 2]).default(2).describe("Shape of new documents."),
    rules: z
      .array(
        z.strictObject({
          subject: subjectPattern().describe("Messages that this rule is for."),
          enabled: z.boolean().default(true).describe("Encrypt these messages."),
          algorithm: algorithm.optional().describe("Cipher in place of the section's."),
          key_id: plainText(128).optional().describe("Name of the key in place of the section's."),
          ...secretOption("key_b64", "Key of 32 bytes in base64, in place of the section's."),
          nonce_size_bytes: integer(7, 13).optional().describe("Bytes of the nonce in place of the section's."),
          tag_length: tagLength.optional().describe("Bytes of the tag in place of the section's."),
          format_version: z.literal([1, 2]).optional().describe("Shape of new documents in place of the section's."),
        }),
      )
      .max(256)
      .default([])
      .describe("Exceptions by subject; the first match counts."),
  })
  .prefault({})
  .describe("Encryption of payloads before any sink sees them; not part of this release.");
