import { z } from "zod";
import { sinkName } from "./routing-section.js";

const typeName = z
  .string()
  .regex(/^[a-z][a-z0-9_-]{0,63}$/, { error: "must begin with a lower-case letter and have up to 64 lower-case letters, digits, _ or -" });

/** One destination: its type, and the keys of that type, which its connector checks. */
const sinkOptions = z.looseObject({ type: typeName.describe("Name of the connector, such as `file`.") });

/** `sink`: where messages are stored (FW-CFG-12). */
export const sinkSection = sinkOptions.describe(
  "Where messages are stored: `type` names the connector, the other keys are the connector's own.",
);

/** `sinks`: named destinations of a fan-out (FW-CFG-12). */
export const sinksSection = z
  .record(sinkName, sinkOptions)
  .refine((value) => Object.keys(value).length <= 64, { error: "must have at most 64 entries" })
  .default({})
  .describe("Named destinations of a fan-out; not part of this release.");
