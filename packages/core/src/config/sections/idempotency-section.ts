import { z } from "zod";
import { plainText } from "../scalar.js";

/** `idempotency`: what the key of a message is made of (FW-CFG-10, FW-ENV-06). */
export const idempotencySection = z
  .strictObject({
    allow_unknown_incarnation: z
      .boolean()
      .default(false)
      .describe("Start although the creation time of the stream cannot be read; keys of a re-created stream may then repeat."),
    account: plainText(255)
      .nullable()
      .default(null)
      .describe("Account that becomes part of every key; set it when several accounts share a destination."),
  })
  .prefault({})
  .describe("What the key of a message is made of.");
