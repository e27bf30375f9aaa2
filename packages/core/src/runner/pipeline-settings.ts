import type { Configuration } from "../config/schema.js";
import type { ConsumerState } from "../source/consumer.js";
import type { BackoffPolicy } from "./backoff.js";
import type { BatcherSettings } from "./batcher.js";
import type { VerdictPolicy } from "./verdict.js";

const nanosPerMs = 1e6;
const defaultAckWaitMs = 30_000;
/** Probes of an outage come sooner than retries of a message: they cost one attempt for the whole pipeline. */
const probe = { firstMs: 250, lastMs: 5000 };
const pullSlackBytes = 65_536;

/** Deadlines of the live consumer, in ms (FW-RUN-15); renewed in place, so that every part reads the newest. */
export interface ConsumerDeadlines {
  ackWaitMs: number;
  backoffMs: readonly number[];
  /** Null when unlimited. */
  maxDeliver: number | null;
  maxAckPending: number | null;
}

/** Everything the pipeline decides by, computed once from the configuration and the live consumer. */
export interface PipelineSettings {
  readonly batcher: BatcherSettings;
  readonly slots: number;
  /** Clamped to the consumer's window. */
  maxMessages: number;
  readonly maxBytes: number;
  readonly minimumPullBytes: number;
  readonly retry: BackoffPolicy;
  readonly probe: BackoffPolicy;
  readonly verdict: VerdictPolicy & { maxDeliver: number | null };
  readonly ordered: boolean;
  readonly deadlines: ConsumerDeadlines;
  readonly heartbeat: { readonly enabled: boolean; readonly intervalMs: number; readonly maxBeats: number };
  readonly maxLeaseMs: number;
  readonly abortGraceMs: number;
  readonly shutdownMs: number;
  readonly maxParked: number;
  readonly onPoison: VerdictPolicy["onPoison"];
  readonly terminateDeadLetters: boolean;
}

/** The least a pull may ask for in bytes: the largest message the server takes, and 64 KiB (FW-RUN-34). */
export function minimumPullBytes(maxPayload: number): number {
  return maxPayload + pullSlackBytes;
}

/** Reads the deadlines out of the consumer the server holds. */
function consumerDeadlines(consumer: ConsumerState): ConsumerDeadlines {
  const { ack_wait, backoff, max_deliver, max_ack_pending } = consumer.config;
  return {
    ackWaitMs: ack_wait ? ack_wait / nanosPerMs : defaultAckWaitMs,
    backoffMs: (backoff ?? []).map((nanos) => nanos / nanosPerMs),
    maxDeliver: max_deliver !== undefined && max_deliver > 0 ? max_deliver : null,
    maxAckPending: max_ack_pending !== undefined && max_ack_pending > 0 ? max_ack_pending : null,
  };
}

/** Takes over what the consumer on the server says now; an operator may have changed it (FW-RUN-15, FW-RUN-32). */
export function adoptConsumer(settings: PipelineSettings, configuration: Configuration, consumer: ConsumerState): void {
  Object.assign(settings.deadlines, consumerDeadlines(consumer));
  settings.verdict.maxDeliver = settings.deadlines.maxDeliver;
  settings.maxMessages = Math.min(
    configuration.delivery.max_messages_in_flight,
    settings.deadlines.maxAckPending ?? Number.POSITIVE_INFINITY,
  );
}

/** The longest time a lease of this consumer may last. */
export function longestDeadline(deadlines: ConsumerDeadlines): number {
  return deadlines.backoffMs.length > 0 ? Math.max(...deadlines.backoffMs) : deadlines.ackWaitMs;
}

/** Puts configuration and live consumer together; the flight is clamped to the consumer's window (FW-RUN-04). */
export function pipelineSettings(configuration: Configuration, consumer: ConsumerState, maxPayload: number): PipelineSettings {
  const { delivery, dead_letter: deadLetter, size_policy: sizes } = configuration;
  const deadlines = consumerDeadlines(consumer);
  const maxMessages = Math.min(delivery.max_messages_in_flight, deadlines.maxAckPending ?? Number.POSITIVE_INFINITY);
  const ordered = delivery.ordering !== "none";
  const { in_progress: beats } = delivery;
  return {
    batcher: {
      batchSize: Math.min(delivery.batch_size, maxMessages, sizes.enabled ? sizes.max_batch_messages : Number.POSITIVE_INFINITY),
      batchMaxBytes: delivery.batch_max_bytes,
      lingerMs: delivery.linger_ms,
    },
    slots: delivery.ordering === "strict" ? 1 : delivery.max_in_flight_batches,
    maxMessages,
    maxBytes: delivery.max_bytes_in_flight,
    minimumPullBytes: minimumPullBytes(maxPayload),
    retry: retryPolicy(configuration),
    probe: {
      mode: "exponential",
      baseMs: Math.min(probe.firstMs, delivery.retry_backoff_max_ms),
      maxMs: Math.min(probe.lastMs, delivery.retry_backoff_max_ms),
      multiplier: 2,
      jitter: "equal",
    },
    verdict: {
      maxRetries: delivery.max_retries,
      maxDeliver: deadlines.maxDeliver,
      ordered,
      temporaryAction: delivery.temporary_failure_action,
      exhaustedAction: delivery.retry_exhausted_action,
      onUnknown: delivery.on_unknown,
      deadLetters: deadLetter.enabled,
      whenDisabled: deadLetter.when_disabled,
      onPoison: delivery.on_poison,
    },
    ordered,
    deadlines,
    heartbeat: {
      enabled: beats.enabled,
      intervalMs: beats.interval_ms,
      maxBeats: beats.max_heartbeats ?? Number.POSITIVE_INFINITY,
    },
    maxLeaseMs: beats.max_lease_ms,
    abortGraceMs: delivery.abort_grace_ms,
    shutdownMs: delivery.shutdown_timeout_ms,
    maxParked: delivery.max_parked,
    onPoison: delivery.on_poison,
    terminateDeadLetters: deadLetter.ack_term_after_publish,
  };
}

/** Retry policy of the configuration. */
export function retryPolicy({ delivery }: Configuration): BackoffPolicy {
  return {
    mode: delivery.retry_backoff_mode,
    baseMs: delivery.retry_backoff_ms,
    maxMs: delivery.retry_backoff_max_ms,
    multiplier: delivery.retry_backoff_multiplier,
    jitter: delivery.retry_jitter,
  };
}
