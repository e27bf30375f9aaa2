import { describe, expect, test } from "vitest";
import { metricsDocument } from "../../src/telemetry/metric-document.js";
import { MetricStore } from "../../src/telemetry/metric-store.js";
import { metricTable } from "../../src/telemetry/metric-table.js";
import { type MetricFormat, metricText } from "../../src/telemetry/metric-text.js";

const readings = new Map([
  ["messages_written_total", 7],
  ["consumer_lag", 12],
]);

function filled(): MetricStore {
  const store = new MetricStore(() => 0n);
  store.count("size_policy_messages_rejected_total", 2, "payload_too_large");
  store.count("messages_written_total", 99);
  store.count("orders_rejected_total");
  store.observe("sink_batch_write_seconds", 0.004);
  store.observe("sink_batch_write_seconds", 0.3);
  store.observe("sink_batch_write_seconds", 100);
  return store;
}

const textOf = (format: MetricFormat) => metricText("nats_sinks", filled(), readings, format);

describe.each(["prometheus", "openmetrics"] as const)("as %s", (format) => {
  const lines = textOf(format).trimEnd().split("\n");

  test("FW-OBS-02 counters, gauges and histograms have their names and values", () => {
    for (const line of [
      'nats_sinks_size_policy_messages_rejected_total{reason="payload_too_large"} 2',
      "nats_sinks_orders_rejected_total 1",
      "nats_sinks_consumer_lag 12",
      "# TYPE nats_sinks_consumer_lag gauge",
      'nats_sinks_sink_batch_write_seconds_bucket{le="0.0025"} 0',
      'nats_sinks_sink_batch_write_seconds_bucket{le="0.005"} 1',
      'nats_sinks_sink_batch_write_seconds_bucket{le="0.5"} 2',
      'nats_sinks_sink_batch_write_seconds_bucket{le="60.0"} 2',
      'nats_sinks_sink_batch_write_seconds_bucket{le="+Inf"} 3',
      "nats_sinks_sink_batch_write_seconds_count 3",
      "nats_sinks_sink_batch_write_seconds_sum 100.304",
      "nats_sinks_late_acks_total 0",
    ])
      expect(lines).toContain(line);
  });

  test("FW-OBS-02 a reading stands for the counter of its name, once", () => {
    expect(lines.filter((line) => line.startsWith("nats_sinks_messages_written_total"))).toEqual(["nats_sinks_messages_written_total 7"]);
  });

  test("FW-OBS-03 every line is one that a collector can read, and each family is described once before its samples", () => {
    const sample = /^[a-z_][a-z0-9_]*(\{[a-z]+="[A-Za-z0-9_+.]*"\})? -?[0-9.e+-]+$/;
    const families: string[] = [];
    for (const line of lines.filter((text) => text !== "# EOF")) {
      const described = /^# (HELP|TYPE) ([a-z0-9_]+) .+$/.exec(line);
      if (described === null) expect(line).toMatch(sample);
      else if (described[1] === "HELP") families.push(described[2] as string);
      else expect(described[2]).toBe(families.at(-1));
      if (described === null) expect(line.startsWith(families.at(-1) ?? "none")).toBe(true);
    }
    expect(new Set(families).size).toBe(families.length);
  });
});

test("FW-OBS-03 OpenMetrics names the family of a counter without its suffix and ends with EOF; the older text does neither", () => {
  const text = textOf("openmetrics");
  expect(text).toContain("# TYPE nats_sinks_late_acks counter\nnats_sinks_late_acks_total 0\n");
  expect(text.endsWith("# EOF\n")).toBe(true);
  expect(textOf("prometheus")).toContain("# TYPE nats_sinks_late_acks_total counter\nnats_sinks_late_acks_total 0\n");
  expect(textOf("prometheus")).not.toContain("EOF");
});

test("FW-OBS-02 a counter that counts with and without a label adds up", () => {
  const store = new MetricStore(() => 0n);
  store.count("late_acks_total", 3);
  store.count("late_acks_total", 2, "slow");
  expect(metricText("n", store, new Map(), "prometheus")).toContain('n_late_acks_total{kind="slow"} 2\nn_late_acks_total 3\n');
});

test("FW-OBS-01 the document has totals, gauges, and facts of each histogram without a sample", () => {
  const document = metricsDocument(filled(), readings);
  expect(document.counters).toMatchObject({ messages_written_total: 7, size_policy_messages_rejected_total: 2, late_acks_total: 0 });
  expect(document.gauges).toEqual({ consumer_lag: 12 });
  expect(document.observations).toEqual({ sink_batch_write_seconds: { count: 3, sum: 100.304, min: 0.004, max: 100, last: 100 } });
  expect(document.labelled).toEqual({ size_policy_messages_rejected_total: { payload_too_large: 2 } });
});

test("FW-OBS-02 names of earlier releases and those of the contract are all in the table", () => {
  const names = ["messages_fetched", "messages_written", "messages_acked", "messages_terminated", "messages_nacked", "messages_failed"];
  const errors = ["messages_dlq", "sink_batches_written", "sink_write_errors", "dlq_publish_errors", "ack_errors", "term_errors"];
  const added = ["late_acks", "unconfirmed_acks", "batch_splits"];
  const gauges = ["consumer_lag", "ack_pending", "bytes_in_flight", "oldest_unsettled_age_seconds", "sink_batch_write_seconds"];
  const known = Object.keys(metricTable);
  expect(known).toEqual(expect.arrayContaining([...names, ...errors, ...added].map((name) => `${name}_total`)));
  expect(known).toEqual(expect.arrayContaining(gauges));
});
