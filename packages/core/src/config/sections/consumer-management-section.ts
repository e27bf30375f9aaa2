import { z } from "zod";
import { distinct, integer, plainText } from "../scalar.js";
import { subjectPattern } from "../subject-schema.js";

const positiveSeconds = (maximum: number) => z.number().gt(0).max(maximum);

/** `consumer_management`: how the consumer is made and what it must look like (FW-CFG-08). */
export const consumerManagementSection = z
  .strictObject({
    mode: z
      .enum(["bind_only", "create_if_missing", "reconcile"])
      .default("create_if_missing")
      .describe("`bind_only` uses an existing consumer; `create_if_missing` makes it when absent; `reconcile` also updates what differs."),
    filter_subjects: distinct(subjectPattern(), 64)
      .default([])
      .describe("Filters of the consumer in place of `nats.subject`, which must contain each of them; distinct and without overlap."),
    deliver_policy: z
      .enum(["all", "last", "new", "last_per_subject", "by_start_sequence", "by_start_time"])
      .default("all")
      .describe("Where a new consumer begins."),
    start_sequence: integer(1).nullable().default(null).describe("First stream sequence; only with `deliver_policy: by_start_sequence`."),
    start_time: z.iso
      .datetime({ offset: true, error: "must be an RFC 3339 time with a zone, such as 2026-01-31T00:00:00Z" })
      .nullable()
      .default(null)
      .describe("RFC 3339 time of the first message; only with `deliver_policy: by_start_time`."),
    replay_policy: z.enum(["instant", "original"]).default("instant").describe("Deliver at once, or at the pace of publication."),
    ack_wait_seconds: positiveSeconds(86_400)
      .nullable()
      .default(null)
      .describe("Time the server waits for an acknowledgement before it delivers again; excludes `backoff_seconds`."),
    backoff_seconds: z
      .array(positiveSeconds(604_800))
      .min(1)
      .max(128)
      .nullable()
      .default(null)
      .describe("Waits before each redelivery, in place of `ack_wait_seconds`; no more entries than `max_deliver`."),
    max_deliver: integer(1, 1_000_000)
      .nullable()
      .default(null)
      .describe("Deliveries of one message, after which the server gives up; null is unlimited."),
    max_ack_pending: integer(1, 1_000_000)
      .nullable()
      .default(null)
      .describe("Messages that may be delivered and unacknowledged at once; null lets the pipeline choose at least 20000."),
    max_waiting: integer(1, 1_000_000).nullable().default(null).describe("Pull requests that may wait on the server at once."),
    headers_only: z.boolean().nullable().default(null).describe("Deliver headers without bodies."),
    num_replicas: integer(0, 5).nullable().default(null).describe("Replicas of the consumer's state; 0 takes those of the stream."),
    memory_storage: z.boolean().nullable().default(null).describe("Keep the consumer's state in memory only."),
    metadata: z
      .record(plainText(128), z.string().max(4096))
      .refine((value) => Object.keys(value).length <= 32, { error: "must have at most 32 entries" })
      .default({})
      .describe("Notes kept with the consumer on the server, up to 32."),
  })
  .describe("How the consumer is made, and what it must look like.");
