import { z } from "zod";
import { amount, path } from "../scalar.js";

/** `metrics`: health and counters for operators (FW-CFG-11). */
export const metricsSection = z
  .strictObject({
    enabled: z
      .boolean()
      .default(false)
      .describe("Keep metrics, and offer them at `listen` and in `snapshot_file`; health is offered there in any case."),
    namespace: z
      .string()
      .regex(/^[A-Za-z_][A-Za-z0-9_]{0,63}$/, { error: "must begin with a letter or _ and have up to 64 letters, digits or _" })
      .default("nats_sinks")
      .describe("Prefix of every metric's name."),
    snapshot_file: path().nullable().default(null).describe("File to which health and metrics are written once a second."),
    event_freshness_enabled: z.boolean().default(true).describe("Measure the age of events; needs `enabled`."),
    event_stale_after_seconds: amount(0, 31_536_000).default(300).describe("Age from which an event counts as stale."),
    event_future_skew_tolerance_seconds: amount(0, 86_400).default(5).describe("Time by which a source's clock may be ahead."),
    listen: z
      .string()
      .regex(/^(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9.-]*):[0-9]{1,5}$/, { error: "must be an address such as 127.0.0.1:9090" })
      .refine((address) => Number(address.slice(address.lastIndexOf(":") + 1)) <= 65_535, { error: "must have a port up to 65535" })
      .nullable()
      .default(null)
      .describe(
        "Address that serves `/livez`, `/readyz` and `/metrics`, such as 127.0.0.1:9090; without a host every address of the machine.",
      ),
  })
  .prefault({})
  .describe("Health and metrics for operators.");
