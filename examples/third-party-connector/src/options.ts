import { z } from "zod";

/** Options of the connector: the one source of types, defaults, validation and what `sinks connectors show` prints. */
export const lineLogOptions = z.strictObject({
  file: z.string().min(1).max(4000).describe("File that receives the lines; its folder must exist, one process writes it."),
  max_line_bytes: z
    .int()
    .min(256)
    .max(16_777_216)
    .default(1_048_576)
    .describe("Longest line in bytes; a message that needs a longer one can never be stored."),
});

/** Validated options. */
export type LineLogOptions = z.output<typeof lineLogOptions>;
