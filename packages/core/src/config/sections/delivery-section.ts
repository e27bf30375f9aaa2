import { z } from "zod";
import { derivedDefault } from "../derived-default.js";
import { amount, integer, plainText } from "../scalar.js";

const mebibyte = 1_048_576;
const laneName = z
  .string()
  .regex(/^[A-Za-z][A-Za-z0-9_-]{0,63}$/, { error: "must begin with a letter and have up to 64 letters, digits, _ or -" });

const priorityLanes = z
  .strictObject({
    enabled: z.boolean().default(false).describe("Let urgent messages go first; only under `ordering: none`."),
    default_lane: laneName.default("default").describe("Lane of messages without a known priority."),
    unknown_priority_action: z.enum(["default_lane", "reject"]).default("default_lane").describe("What becomes of an unknown priority."),
    max_priority_value_length: integer(1, 256).default(64).describe("Longest priority that is looked at."),
    lanes: z
      .array(
        z.strictObject({
          name: laneName.describe("Name of the lane."),
          priorities: z.array(plainText(256)).max(256).default([]).describe("Priorities that belong to this lane."),
          weight: integer(1, 100).default(1).describe("Turns of this lane in each round."),
        }),
      )
      .max(64)
      .default([{ name: "default", priorities: [], weight: 1 }])
      .describe("The lanes, each with its priorities and its share."),
  })
  .prefault({})
  .describe("Weighted turns by priority; not part of this release.");

const inProgress = z
  .strictObject({
    enabled: z.boolean().default(true).describe("Tell the server that messages are still being worked on."),
    interval_ms: integer(1, 3_600_000)
      .default(5000)
      .describe("Longest time between two heartbeats; a third of the ack deadline when that is shorter."),
    max_heartbeats: integer(1, 1_000_000).nullable().default(null).describe("Heartbeats of one delivery; null is unlimited."),
    max_lease_ms: integer(1, 86_400_000).default(600_000).describe("Time one attempt to write may take before it is aborted."),
    shutdown_timeout_ms: integer(0, 600_000)
      .default(5000)
      .describe("Kept for compatibility, without effect: nothing waits for heartbeats."),
  })
  .prefault({})
  .describe("Heartbeats that keep the lease of messages in work.");

const ackConfirmation = z
  .strictObject({
    enabled: z.boolean().default(false).describe("Confirm every acknowledgement; the same as `ack_mode: confirmed`."),
    timeout_ms: integer(1, 60_000).default(1000).describe("Time to wait for a confirmation."),
    unsupported_action: z
      .enum(["fail", "ack"])
      .default("fail")
      .describe("Kept for compatibility, without effect: confirmation is always supported."),
  })
  .prefault({})
  .describe("Confirmation of acknowledgements by the server.");

/** `delivery`: batches, order, retries, acknowledgement and stopping (FW-CFG-09). */
export const deliverySection = z
  .strictObject({
    batch_size: integer(1, 10_000).default(1000).describe("Most messages of one batch."),
    batch_timeout_ms: integer(1).default(1000).describe("Time after which an unfilled pull request ends; clamped to 500..30000."),
    batch_max_bytes: integer(1024)
      .default(8 * mebibyte)
      .describe("Most bytes of one batch; a larger message is a batch alone."),
    linger_ms: integer(0, 60_000).default(0).describe("Time an unfilled batch waits for more when a write slot is free; 0 does not wait."),
    max_in_flight_batches: integer(1, 64).default(4).describe("Batches that are written at the same time."),
    max_messages_in_flight: derivedDefault(
      integer(1),
      "`batch_size` × (`max_in_flight_batches` + 1), at most `consumer_management.max_ack_pending`",
    ).describe("Most messages fetched and not yet settled."),
    max_bytes_in_flight: integer(1024)
      .default(64 * mebibyte)
      .describe("Most bytes fetched and not yet settled; at least the server's `max_payload` and 64 KiB."),
    ordering: derivedDefault(z.enum(["none", "per_key", "strict"]), "`none`; `strict` when `sink.write` has any op but `insert`").describe(
      "`strict` keeps one order for all, `per_key` one per key, `none` is free.",
    ),
    order_key: z
      .string()
      .regex(/^(subject|header:[!#$%&'*+\-.^_`|~0-9A-Za-z]{1,256}|subject_token:[1-9][0-9]{0,2})$/, {
        error: "must be `subject`, `header:<name>` or `subject_token:<n>` with n from 1",
      })
      .default("subject")
      .describe("Key of `ordering: per_key`: `subject`, `header:<name>` or `subject_token:<n>`, counted from 1."),
    on_poison: derivedDefault(
      z.enum(["dead_letter_and_continue", "park_key", "stop"]),
      "`dead_letter_and_continue`; `stop` when `dead_letter.enabled` is false",
    ).describe("What an ordered lane does after a message that can never be stored."),
    ack_policy: z
      .literal("after_sink_commit")
      .default("after_sink_commit")
      .describe("Messages are acknowledged after they are durable; no other value is allowed."),
    ack_mode: derivedDefault(
      z.enum(["plain", "batch_confirmed", "confirmed"]),
      "`batch_confirmed`; `confirmed` when `ack_confirmation.enabled`",
    ).describe("Which acknowledgements the server confirms: none, the last of each batch, or all."),
    max_retries: integer(0, 1_000_000).default(5).describe("Retries of a message after its first failure."),
    retry_backoff_ms: integer(0, 3_600_000).default(1000).describe("First wait between attempts."),
    retry_backoff_max_ms: integer(0, 3_600_000).default(60_000).describe("Longest wait between attempts; not below `retry_backoff_ms`."),
    retry_backoff_mode: z.enum(["fixed", "linear", "exponential"]).default("exponential").describe("How the wait grows."),
    retry_backoff_multiplier: amount(1, 10).default(2).describe("Growth of an exponential wait."),
    retry_jitter: z.enum(["none", "full", "equal"]).default("full").describe("Randomness of the wait: none, all of it, or half of it."),
    temporary_failure_action: z
      .enum(["nak", "leave_unacked"])
      .default("nak")
      .describe("Give a failed message back with a delay, or let its lease run out."),
    retry_exhausted_action: z
      .enum(["dead_letter", "hold"])
      .default("dead_letter")
      .describe("What becomes of a message whose retries are spent."),
    on_consumer_missing: z
      .enum(["unhealthy", "recreate", "exit"])
      .default("unhealthy")
      .describe("What to do when the consumer disappears while running."),
    allow_single_delivery: z
      .boolean()
      .default(false)
      .describe("Accept `consumer_management.max_deliver: 1`, which leaves no second chance after a crash."),
    priority_lanes: priorityLanes,
    in_progress: inProgress,
    ack_confirmation: ackConfirmation,
    shutdown_timeout_ms: integer(0, 600_000).default(30_000).describe("Time a stop may take to finish what was received."),
    abort_grace_ms: integer(0, 600_000).default(5000).describe("Time an aborted write may take to end."),
    start_timeout_ms: integer(0, 600_000).default(30_000).describe("Time to wait for a server that cannot be reached at start."),
    on_unknown: z
      .enum(["redeliver", "dead_letter", "hold"])
      .default("redeliver")
      .describe("What becomes of a write that may have been applied and must not be repeated blindly."),
    max_parked: integer(1, 1_000_000).default(1000).describe("Messages parked behind poison under `on_poison: park_key`."),
    prefer_safe_duplication: z.boolean().default(true).describe("Kept for compatibility; has no effect."),
  })
  .prefault({})
  .describe("Batches, order, retries, acknowledgement and stopping.");
