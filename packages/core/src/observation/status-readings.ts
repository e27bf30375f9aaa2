import type { RunnerStatus } from "../runner/runner-contract.js";
import type { MetricReadings } from "../telemetry/metric-text.js";

/** What a status says as metrics; a fact that is not known has no reading. */
export function statusReadings(status: RunnerStatus, lastSuccessNs: bigint | null): MetricReadings {
  const readings: readonly (readonly [string, number | null])[] = [
    ["messages_fetched_total", status.received],
    ["messages_written_total", status.stored],
    ["messages_dlq_total", status.deadLettered],
    ["messages_retried_total", status.retried],
    ["ready", Number(status.ready)],
    ["healthy", Number(status.healthy)],
    ["consumer_lag", status.lag],
    ["ack_pending", status.ackPending],
    ["messages_in_flight", status.inFlight],
    ["bytes_in_flight", status.bytesInFlight],
    ["messages_held", status.held],
    ["oldest_unsettled_age_seconds", status.oldestUnsettledMs / 1000],
    ["last_sink_success_epoch_seconds", lastSuccessNs === null ? null : Number(lastSuccessNs / 1_000_000n) / 1000],
  ];
  return new Map(readings.filter((reading): reading is readonly [string, number] => reading[1] !== null));
}
