import { z } from "zod";
import { amount, integer, plainText } from "../scalar.js";
import { literalSubject } from "../subject-schema.js";

/** `push_consumer`: a consumer to which the server pushes (FW-CFG-08, FW-RUN-31). */
export const pushConsumerSection = z
  .strictObject({
    enabled: z.boolean().default(false).describe("Use a push consumer instead of pulling."),
    deliver_subject: literalSubject().nullable().default(null).describe("Subject to which the server delivers."),
    deliver_group: plainText(255).nullable().default(null).describe("Queue group that shares the deliveries."),
    manual_ack: z.literal(true).default(true).describe("Messages are acknowledged by the pipeline; no other value is allowed."),
    pending_msgs_limit: integer(1, 1_000_000).default(1024).describe("Messages the client may queue."),
    pending_bytes_limit: integer(1024, 1_073_741_824).default(67_108_864).describe("Bytes the client may queue."),
    queue_overflow_action: z
      .enum(["nak", "leave_unacked"])
      .default("nak")
      .describe("What becomes of a message that does not fit into the queue."),
    flow_control: z.boolean().default(false).describe("Let the server pace its deliveries; needs `idle_heartbeat_seconds`."),
    idle_heartbeat_seconds: amount(0.1, 3600).nullable().default(null).describe("Time between heartbeats of an idle consumer."),
    drain_timeout_ms: integer(0, 600_000)
      .default(30_000)
      .describe("Kept for compatibility; `delivery.shutdown_timeout_ms` bounds the stop."),
  })
  .describe("A push consumer in place of pulling; not part of this release.");
