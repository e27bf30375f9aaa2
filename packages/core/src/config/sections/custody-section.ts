import { z } from "zod";
import { secretOption } from "../../option/secret.js";
import { headerName, integer, plainText } from "../scalar.js";

/** `custody`: hashes that let a stored record be checked later (FW-CFG-15). */
export const custodySection = z
  .strictObject({
    enabled: z.boolean().default(false).describe("Add custody hashes to messages; not part of this release."),
    algorithm: z.enum(["sha256", "sha512"]).default("sha256").describe("Hash that is used."),
    hash_payload: z.boolean().default(true).describe("Hash the payload."),
    hash_metadata: z.boolean().default(true).describe("Hash the stable metadata."),
    include_previous_hash: z.boolean().default(false).describe("Chain each record to the hash its publisher names."),
    previous_hash_header: headerName().default("Nats-Sinks-Previous-Custody-Hash").describe("Header of the previous record's hash."),
    key_id: plainText(128).nullable().default(null).describe("Name of the key; with a key the hashes are HMACs."),
    ...secretOption("key_b64", "Key of the HMAC in base64."),
    max_hash_input_bytes: integer(1, 1_073_741_824).default(16_777_216).describe("Most bytes that are hashed for one message."),
  })
  .prefault({})
  .describe("Hashes that let a stored record be checked later; not part of this release.");
