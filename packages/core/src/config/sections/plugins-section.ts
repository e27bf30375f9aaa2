import { z } from "zod";
import { distinct } from "../scalar.js";

/** `plugins`: connectors of third parties (FW-CFG-12, FW-REG-04). */
export const pluginsSection = z
  .strictObject({
    enabled: z.boolean().default(false).describe("Allow connectors of third parties."),
    allowed_sinks: distinct(z.string().regex(/^[a-z][a-z0-9_-]{0,63}$/, { error: "must be the name of a connector" }), 32)
      .default([])
      .describe("Names of the connectors of third parties that may be imported."),
    require_production_ready: z
      .boolean()
      .default(true)
      .describe("Refuse a connector of a third party that is not declared ready for production."),
  })
  .prefault({})
  .describe("Connectors of third parties.");
