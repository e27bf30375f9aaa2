import { z } from "zod";

const extension = z
  .string()
  .regex(
    /^\.[A-Za-z0-9_-]{1,30}(?:\.[A-Za-z0-9_-]{1,15})?$/,
    "must be a dot and up to 30 letters, digits, `_` or `-`, with at most one more dot",
  )
  .refine((value) => !/\.(?:tmp|lock)$/i.test(value), "must not end in .tmp or .lock, the names of the sink's own files");

/** Options of the file sink (FW-CFG-13). */
export const fileOptions = z.strictObject({
  directory: z
    .string()
    .min(1)
    .max(4000)
    .regex(/^[^\0]*$/, { error: "must not hold a NUL character" })
    .describe("Folder that receives the files; a relative path starts at the working directory."),
  mode: z
    .enum(["one_file_per_message", "segments"])
    .default("one_file_per_message")
    .describe("One JSON file for each message, or NDJSON segments that many messages share."),
  filename_strategy: z
    .enum(["stream_sequence", "message_id", "payload_sha256"])
    .default("stream_sequence")
    .describe("What names a message's file. Segments are named after their stream and first sequence."),
  duplicate_policy: z
    .enum(["skip_existing", "overwrite", "fail"])
    .default("skip_existing")
    .describe("What happens when a message's file is there already."),
  payload_mode: z
    .enum(["json_or_envelope", "json_only", "text_envelope", "bytes_envelope"])
    .default("json_or_envelope")
    .describe("How a body becomes JSON."),
  extension: extension.default(".json").describe("End of a message file's name; gzip adds .gz where it is missing."),
  compression: z.enum(["none", "gzip"]).default("none").describe("Compress files; in segments each batch is one gzip member."),
  compression_level: z.int().min(1).max(9).default(6).describe("Effort of gzip, from 1 (fast) to 9 (small)."),
  include_metadata: z.boolean().default(true).describe("Add the metadata snapshot to each record."),
  partition_by_subject: z
    .boolean()
    .default(true)
    .describe("Put message files into one folder for each subject. Segments always lie in the directory itself."),
  create_directory: z.boolean().default(true).describe("Make the directory at start when it is missing."),
  fsync: z.boolean().default(true).describe("Flush files and folders to the disk before a message counts as stored."),
  pretty: z.boolean().default(false).describe("Indent message files for people; segments stay one record a line."),
  segment_max_bytes: z
    .int()
    .min(1024)
    .max(1_099_511_627_776)
    .default(67_108_864)
    .describe("A segment that would grow beyond this many bytes on disk is closed first."),
  segment_max_age_seconds: z.number().positive().max(86_400).default(300).describe("A segment is closed at this age."),
});

/** Validated options of the file sink. */
export type FileOptions = z.output<typeof fileOptions>;
