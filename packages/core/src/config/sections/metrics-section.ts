import { z } from "zod";
import { amount, path } from "../scalar.js";

/** `metrics`: counters for operators (FW-CFG-11). */
export const metricsSection = z
  .strictObject({
    enabled: z.boolean().default(false).describe("Keep and offer metrics; not part of this release."),
    namespace: z
      .string()
      .regex(/^[A-Za-z_][A-Za-z0-9_]{0,63}$/, { error: "must begin with a letter or _ and have up to 64 letters, digits or _" })
      .default("nats_sinks")
      .describe("Prefix of every metric's name."),
    snapshot_file: path().nullable().default(null).describe("File to which a snapshot is written on a timer."),
    event_freshness_enabled: z.boolean().default(true).describe("Measure the age of events."),
    event_stale_after_seconds: amount(0, 31_536_000).default(300).describe("Age from which an event counts as stale."),
    event_future_skew_tolerance_seconds: amount(0, 86_400).default(5).describe("Time by which a source's clock may be ahead."),
    listen: z
      .string()
      .regex(/^(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9.-]*):[0-9]{1,5}$/, { error: "must be an address such as 127.0.0.1:9090" })
      .nullable()
      .default(null)
      .describe("Address of the HTTP server for metrics and health."),
  })
  .prefault({})
  .describe("Counters for operators; not part of this release.");
