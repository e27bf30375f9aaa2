import { z } from "zod";
import { integer, plainText } from "../scalar.js";
import { entityName, literalSubject } from "../subject-schema.js";

/** `dead_letter`: where messages go that can never be stored (FW-CFG-10). */
export const deadLetterSection = z
  .strictObject({
    enabled: z
      .boolean()
      .default(false)
      .describe("Publish messages that can never be stored, with the reason, before they are acknowledged."),
    subject: literalSubject()
      .nullable()
      .default(null)
      .describe("Subject of the dead letters; required when enabled, without wildcards, outside the consumer's own filters."),
    include_payload: z.boolean().default(true).describe("Put the body into the record."),
    include_headers: z.boolean().default(true).describe("Put the headers into the record."),
    include_error: z.boolean().default(true).describe("Put the error's type and text into the record."),
    ack_term_after_publish: z.boolean().default(false).describe("End the original with TERM instead of an acknowledgement."),
    format: z.enum(["json", "raw"]).default("json").describe("A JSON record, or the original bytes with the record as headers."),
    oversize: z
      .enum(["chunk", "metadata_only", "hold"])
      .default("chunk")
      .describe("What to do with a message that is too large to publish whole: in ordered chunks, without its body, or not at all."),
    max_bytes: integer(1024)
      .nullable()
      .default(null)
      .describe("Largest message in bytes, headers counted, besides the limits of the server and the stream."),
    max_in_flight: integer(1, 10_000).default(64).describe("Dead letters published at the same time."),
    when_disabled: z
      .enum(["hold", "stop", "discard"])
      .default("hold")
      .describe(
        "With dead letters off: hold a hopeless message, stop the pipeline, or drop the message. With an order, `delivery.on_poison` decides first.",
      ),
    max_ratio: z
      .number()
      .gt(0)
      .max(1)
      .nullable()
      .default(null)
      .describe("Share of dead letters, of the last 1000 messages or 60 s and at least 100 messages, above which the pipeline pauses."),
    stream: entityName()
      .nullable()
      .default(null)
      .describe("Stream that must take the dead letters; by default the one that captures the subject."),
    domain: plainText(255).nullable().default(null).describe("JetStream domain of the dead letters; by default that of the pipeline."),
  })
  .prefault({})
  .describe("Where messages go that can never be stored.");
