import { z } from "zod";
import { integer } from "../scalar.js";

const limit = (value: number, text: string) => integer(1, 1_073_741_824).default(value).describe(text);

/** `size_policy`: limits that every message must keep (FW-CFG-16). */
export const sizePolicySection = z
  .strictObject({
    enabled: z.boolean().default(false).describe("Reject messages over a limit: dead-lettered, with the limit as the reason."),
    max_payload_bytes: limit(16_777_216, "Largest body."),
    max_header_count: limit(128, "Most headers."),
    max_header_name_bytes: limit(256, "Longest header name, in bytes of UTF-8."),
    max_header_value_bytes: limit(8192, "Longest header value, white space around it left out."),
    max_headers_bytes: limit(65_536, "Most bytes of all header names and values; not below a name and a value."),
    max_label_count: limit(64, "Most labels."),
    max_label_bytes: limit(128, "Longest label."),
    max_labels_bytes: limit(4096, "Largest sum of labels; not below one label."),
    max_mission_metadata_bytes: limit(8192, "Largest mission metadata."),
    max_standard_metadata_bytes: limit(262_144, "Largest metadata snapshot as JSON."),
    max_normalized_record_bytes: limit(
      20_971_520,
      "Most bytes of the body in its JSON form and the metadata snapshot; not below the payload.",
    ),
    max_batch_messages: integer(1, 10_000).default(10_000).describe("Most messages of a batch; a larger batch is split."),
  })
  .prefault({})
  .describe("Limits that every message must keep, inclusive, checked before anything of it is parsed.");
