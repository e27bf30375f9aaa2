import { describe, expect, test } from "vitest";
import { validateConfiguration } from "../../src/config/validate.js";
import { formatRfc3339 } from "../../src/envelope/rfc3339.js";
import { compileArrivalGate } from "../../src/gate/arrival-gate.js";
import { compileFreshness } from "../../src/gate/freshness.js";
import { configurationWith } from "../config/faults-of.js";
import { sampleEnvelope, samplePosition } from "../envelope/sample-envelope.js";
import { RecordingTelemetry } from "../fakes/recording-telemetry.js";

const receivedAtNs = 1_767_225_600_000_000_000n;
const metrics = { enabled: true, event_stale_after_seconds: 300, event_future_skew_tolerance_seconds: 5 };

function measured(fields: Parameters<typeof sampleEnvelope>[0]): RecordingTelemetry {
  const telemetry = new RecordingTelemetry();
  const meter = compileFreshness(validateConfiguration(configurationWith({ metrics })), telemetry);
  if (meter === null) throw new Error("no meter");
  meter(sampleEnvelope({ receivedAtNs, ...fields }));
  return telemetry;
}

const made = (seconds: number) => ({
  headers: [["Nats-Time-Stamp", formatRfc3339(receivedAtNs - BigInt(seconds * 1000) * 1_000_000n) ?? ""]] as const,
});

describe("the age of an event", () => {
  test("FW-OBS-02 is measured from the publisher's time, and a stale one is counted", () => {
    expect(measured(made(300)).observed("event_age_at_receive_seconds")).toEqual([300]);
    expect(measured(made(300)).counted("events_stale_at_receive_total")).toBe(0);
    expect(measured(made(300.5)).counted("events_stale_at_receive_total")).toBe(1);
  });

  test("FW-RUN-30 below zero counts as zero and is counted; beyond the tolerance it is counted as from the future too", () => {
    const near = measured(made(-5));
    expect(near.observed("event_age_at_receive_seconds")).toEqual([0]);
    expect(near.observed("event_source_clock_skew_seconds")).toEqual([5]);
    expect([near.counted("negative_ages_total"), near.counted("event_creation_timestamp_future_total")]).toEqual([1, 0]);
    const far = measured(made(-5.001));
    expect([far.counted("negative_ages_total"), far.counted("event_creation_timestamp_future_total")]).toEqual([1, 1]);
    expect(measured(made(0)).counted("negative_ages_total")).toBe(0);
  });

  test("FW-OBS-02 without a time of the publisher's the server's counts, and without either nothing is guessed", () => {
    const server = measured({ position: { ...samplePosition, timestampNs: receivedAtNs - 2_000_000_000n } });
    expect(server.observed("event_age_at_receive_seconds")).toEqual([2]);
    const malformed = measured({ headers: [["Nats-Time-Stamp", "yesterday"]], position: null });
    expect(malformed.counted("event_creation_timestamp_malformed_total")).toBe(1);
    expect(malformed.counted("event_creation_timestamp_missing_total")).toBe(1);
    expect(malformed.observed("event_age_at_receive_seconds")).toEqual([]);
  });
});

test("FW-RUN-10 ages are measured only when metrics ask for them, and of no message that a gate rejects", () => {
  const telemetry = new RecordingTelemetry();
  for (const off of [{}, { enabled: true, event_freshness_enabled: false }]) {
    expect(compileArrivalGate(validateConfiguration(configurationWith({ metrics: off })), telemetry)).toBeNull();
  }
  const both = validateConfiguration(configurationWith({ metrics, size_policy: { enabled: true, max_payload_bytes: 3 } }));
  const gate = compileArrivalGate(both, telemetry);
  expect(gate?.(sampleEnvelope({ data: "12345", ...made(1) }), null)?.code).toBe("payload_too_large");
  expect(telemetry.observed("event_age_at_receive_seconds")).toEqual([]);
  expect(gate?.(sampleEnvelope({ data: "123", receivedAtNs, ...made(1) }), null)).toBeNull();
  expect(telemetry.observed("event_age_at_receive_seconds")).toEqual([1]);
});
