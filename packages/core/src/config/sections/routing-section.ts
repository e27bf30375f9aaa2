import { z } from "zod";
import { matchSchema } from "../match-schema.js";
import { integer, plainText } from "../scalar.js";

const namePattern = /^[A-Za-z][A-Za-z0-9_.:-]{0,127}$/;

/** Name of a sink or route of a fan-out. */
export const sinkName = z.string().regex(namePattern, { error: "must begin with a letter and have up to 128 letters, digits or _ . : -" });

/** A named sink, and what the acknowledgement owes to it (FW-CFG-12, FW-RTE-04). */
const target = z.union([
  sinkName,
  z
    .strictObject({
      sink: sinkName.describe("Name of the sink."),
      required: z.boolean().default(true).describe("The message is acknowledged only when this sink has it."),
      minimum_wait_ms: integer(0, 60_000).optional().describe("Time an optional sink is waited for."),
      timeout_ms: integer(0, 300_000)
        .optional()
        .describe("Time after which a write to an optional sink is aborted; not below `minimum_wait_ms`."),
    })
    .refine((value) => value.minimum_wait_ms === undefined || value.timeout_ms === undefined || value.timeout_ms >= value.minimum_wait_ms, {
      path: ["timeout_ms"],
      error: "must not be below minimum_wait_ms",
    }),
]);

/** Keys of routing that stand in `routing`, or inline in a fan-out sink. */
const routingKeys = {
  no_match: z.enum(["reject", "default_route", "ignore"]).default("reject").describe("What becomes of a message that no route matches."),
  default_targets: z.array(target).max(64).default([]).describe("Targets under `no_match: default_route`, and only there."),
  target_sink_types: z.record(sinkName, plainText(64)).default({}).describe("Type that each named sink must have."),
  routes: z
    .array(
      z.strictObject({
        name: sinkName.describe("Name of the route."),
        match: matchSchema,
        targets: z.array(target).min(1).max(64).describe("Sinks that receive the message."),
        allow_unrequired: z.boolean().default(false).describe("Accept a route without a required target."),
      }),
    )
    .max(128)
    .default([])
    .describe("Routes, tried in order."),
};

/** `routing`: which named sinks receive a message (FW-CFG-12). */
export const routingSection = z
  .strictObject({
    enabled: z.boolean().default(false).describe("Route messages to named sinks; not part of this release."),
    mode: z.enum(["first", "all"]).default("first").describe("The first match, or every match."),
    ...routingKeys,
  })
  .prefault({})
  .describe("Which named sinks receive a message; not part of this release.");
