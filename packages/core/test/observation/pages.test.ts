import { describe, expect, test } from "vitest";
import { type PageSource, pageAt } from "../../src/observation/pages.js";
import { MetricStore } from "../../src/telemetry/metric-store.js";
import { statusOf } from "./status-of.js";

const sourceOf = (changed: Parameters<typeof statusOf>[0] = {}, store: MetricStore | null = null): PageSource => ({
  namespace: "nats_sinks",
  store,
  status: () => statusOf(changed),
});

describe("/livez", () => {
  test.each([
    ["created", 200],
    ["starting", 200],
    ["running", 200],
    ["stopping", 200],
    ["stopped", 503],
  ] as const)("FW-OBS-03 %s is %d", (state, code) => {
    expect(pageAt("/livez", "", sourceOf({ state })).code).toBe(code);
  });

  test("FW-OBS-03 a red pipeline is alive: a restart would not bring its destination back", () => {
    expect(pageAt("/livez", "", sourceOf({ healthy: false, ready: false, reasons: ["destination_unavailable: x"] })).code).toBe(200);
  });
});

describe("/readyz", () => {
  test("FW-OBS-03 is 200 when the pipeline is ready", () => {
    const page = pageAt("/readyz", "", sourceOf());
    expect([page.code, JSON.parse(page.body)]).toEqual([200, { ready: true, state: "running", reasons: [] }]);
  });

  test("FW-RUN-38 is 503 with the reasons when it is not", () => {
    const reasons = ["silent: no pull was answered for 1000 ms"];
    const page = pageAt("/readyz", "", sourceOf({ ready: false, healthy: false, reasons }));
    expect([page.code, JSON.parse(page.body)]).toEqual([503, { ready: false, state: "running", reasons }]);
  });
});

describe("/metrics", () => {
  test("FW-OBS-03 is there when metrics are enabled, in the format that is asked for", () => {
    const store = new MetricStore(() => 0n);
    const page = pageAt("/metrics", "", sourceOf({}, store));
    expect([page.code, page.type]).toEqual([200, "text/plain; version=0.0.4; charset=utf-8"]);
    for (const line of [
      "messages_fetched_total 10",
      "messages_written_total 8",
      "messages_dlq_total 1",
      "ready 1",
      "consumer_lag 5",
      "ack_pending 1",
      "oldest_unsettled_age_seconds 1.5",
    ])
      expect(page.body).toContain(`\nnats_sinks_${line}\n`);
    const open = pageAt("/metrics", "application/openmetrics-text; version=1.0.0,text/plain;q=0.5", sourceOf({}, store));
    expect([open.type.split(";")[0], open.body.endsWith("# EOF\n")]).toEqual(["application/openmetrics-text", true]);
  });

  test("FW-OBS-02 what is not known is left out rather than said to be zero", () => {
    const page = pageAt("/metrics", "", sourceOf({ lag: null, ackPending: null }, new MetricStore(() => 0n)));
    expect(page.body).not.toMatch(/consumer_lag|ack_pending|last_sink_success/);
  });

  test("FW-OBS-03 is not found while metrics are off, and neither is any other path", () => {
    expect(pageAt("/metrics", "", sourceOf()).code).toBe(404);
    for (const path of ["/", "/livez/", "/metrics/x", "", "/../livez"]) expect(pageAt(path, "", sourceOf()).code).toBe(404);
  });
});
