import type { RunnerStatus } from "../runner/runner-contract.js";
import type { MetricStore } from "../telemetry/metric-store.js";
import { type MetricFormat, metricText } from "../telemetry/metric-text.js";
import { statusReadings } from "./status-readings.js";

/** What pages are made of. */
export interface PageSource {
  readonly namespace: string;
  /** Null while `metrics.enabled` is false: then there is health and nothing to scrape. */
  readonly store: MetricStore | null;
  readonly status: () => RunnerStatus;
}

/** An answer to one request. */
export interface Page {
  readonly code: number;
  readonly type: string;
  readonly body: string;
}

const plain = "text/plain; charset=utf-8";
const types: Readonly<Record<MetricFormat, string>> = {
  prometheus: "text/plain; version=0.0.4; charset=utf-8",
  openmetrics: "application/openmetrics-text; version=1.0.0; charset=utf-8",
};

/** The page at a path; `accept` is the header of that name. Says nothing of any message (FW-OBS-03). */
export function pageAt(path: string, accept: string, source: PageSource): Page {
  if (path === "/livez") return live(source.status());
  if (path === "/readyz") return ready(source.status());
  if (path === "/metrics") return metrics(source, /\bapplication\/openmetrics-text\b/.test(accept) ? "openmetrics" : "prometheus");
  return { code: 404, type: plain, body: "not found; there are /livez, /readyz and /metrics\n" };
}

/** Alive is whoever answers here and has not ended; a destination that is away is no reason to be restarted. */
function live({ state }: RunnerStatus): Page {
  const over = state === "stopped";
  return { code: over ? 503 : 200, type: plain, body: over ? "stopped\n" : "alive\n" };
}

function ready({ ready: isReady, state, reasons }: RunnerStatus): Page {
  const body = `${JSON.stringify({ ready: isReady, state, reasons })}\n`;
  return { code: isReady ? 200 : 503, type: "application/json; charset=utf-8", body };
}

function metrics({ namespace, store, status }: PageSource, format: MetricFormat): Page {
  if (store === null) return { code: 404, type: plain, body: "metrics.enabled is false\n" };
  return { code: 200, type: types[format], body: metricText(namespace, store, statusReadings(status(), store.lastSuccessNs), format) };
}
