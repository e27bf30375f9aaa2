import type { PipelineSettings } from "../../src/runner/pipeline-settings.js";
import type { VerdictPolicy } from "../../src/runner/verdict.js";

/** A verdict policy with the defaults of the configuration and dead letters on. */
export function verdictPolicy(overrides: Partial<VerdictPolicy> = {}): VerdictPolicy {
  return {
    maxRetries: 5,
    maxDeliver: null,
    ordered: false,
    temporaryAction: "nak",
    exhaustedAction: "dead_letter",
    onUnknown: "redeliver",
    deadLetters: true,
    whenDisabled: "hold",
    onPoison: "dead_letter_and_continue",
    ...overrides,
  };
}

/** Settings of a small pipeline; nested parts are replaced as a whole. */
export function pipelineSettingsOf(overrides: Partial<PipelineSettings> = {}): PipelineSettings {
  const verdict =
    overrides.verdict ?? verdictPolicy({ ordered: overrides.ordered ?? false, onPoison: overrides.onPoison ?? "dead_letter_and_continue" });
  return {
    batcher: { batchSize: 10, batchMaxBytes: 10_000, lingerMs: 0 },
    slots: 2,
    maxMessages: 50,
    maxBytes: 1_000_000,
    minimumPullBytes: 10_000,
    retry: { mode: "fixed", baseMs: 1000, maxMs: 60_000, multiplier: 2, jitter: "none" },
    probe: { mode: "fixed", baseMs: 250, maxMs: 5000, multiplier: 2, jitter: "none" },
    verdict,
    ordered: verdict.ordered,
    deadlines: { ackWaitMs: 30_000, backoffMs: [], maxDeliver: verdict.maxDeliver, maxAckPending: 1000 },
    heartbeat: { enabled: true, intervalMs: 5000, maxBeats: Number.POSITIVE_INFINITY },
    maxLeaseMs: 600_000,
    abortGraceMs: 5000,
    shutdownMs: 30_000,
    maxParked: 5,
    onPoison: verdict.onPoison,
    terminateDeadLetters: false,
    ...overrides,
  };
}
