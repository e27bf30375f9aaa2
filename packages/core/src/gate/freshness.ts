import type { Configuration } from "../config/schema.js";
import type { Envelope } from "../envelope/envelope.js";
import { creationTime } from "../envelope/metadata-snapshot.js";
import type { Telemetry } from "../telemetry/port.js";

/** Measures one message on arrival. */
export type FreshnessMeter = (envelope: Envelope) => void;

/** Measures the age of events as `metrics` asks for it; null when it does not. It decides nothing about a message. */
export function compileFreshness({ metrics }: Configuration, telemetry: Telemetry): FreshnessMeter | null {
  if (!metrics.enabled || !metrics.event_freshness_enabled) return null;
  const { event_stale_after_seconds: staleAfter, event_future_skew_tolerance_seconds: tolerance } = metrics;
  return (envelope) => {
    const created = creationTime(envelope.headers, envelope.timestampNs);
    if (created.headerMalformed) telemetry.count("event_creation_timestamp_malformed_total");
    if (created.epochNs === null) return telemetry.count("event_creation_timestamp_missing_total");
    const age = Number(envelope.receivedAtNs - created.epochNs) / 1e9;
    telemetry.observe?.("event_age_at_receive_seconds", Math.max(0, age));
    if (age > staleAfter) telemetry.count("events_stale_at_receive_total");
    if (age >= 0) return;
    telemetry.count("negative_ages_total");
    telemetry.observe?.("event_source_clock_skew_seconds", -age);
    if (-age > tolerance) telemetry.count("event_creation_timestamp_future_total");
  };
}
