import { z } from "zod";
import { integer } from "../scalar.js";

const levels = { ERROR: "ERROR", WARN: "WARN", WARNING: "WARN", INFO: "INFO", DEBUG: "DEBUG", CRITICAL: "ERROR" } as const;

/** `logging`: what is written to stderr (FW-CFG-10). */
export const loggingSection = z
  .strictObject({
    level: z
      .enum(["ERROR", "WARN", "INFO", "DEBUG", "WARNING", "CRITICAL"])
      .transform((level) => levels[level])
      .prefault("INFO")
      .describe("Least severity that is logged; `WARNING` means `WARN` and `CRITICAL` means `ERROR`."),
    format: z.enum(["text", "json"]).default("text").describe("Lines for people, or one JSON object per line."),
    payload_logging: z.boolean().default(false).describe("Payloads are never logged; `true` is refused."),
    progress_interval_seconds: integer(1, 86_400).default(30).describe("Time between progress lines when the output is not a terminal."),
  })
  .prefault({})
  .describe("What is written to the log.");
