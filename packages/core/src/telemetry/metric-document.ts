import type { HistogramState, MetricStore } from "./metric-store.js";
import { metricTable } from "./metric-table.js";
import type { MetricReadings } from "./metric-text.js";

/** A histogram as a snapshot shows it: facts of all measurements, no sample of any. */
export interface ObservationDocument {
  readonly count: number;
  readonly sum: number;
  readonly min: number;
  readonly max: number;
  readonly last: number;
}

/** Metrics as JSON: names without the namespace, the shape of earlier releases, and counters by label beside it. */
export interface MetricsDocument {
  readonly counters: Readonly<Record<string, number>>;
  readonly gauges: Readonly<Record<string, number>>;
  readonly observations: Readonly<Record<string, ObservationDocument>>;
  readonly labelled: Readonly<Record<string, Readonly<Record<string, number>>>>;
}

/** The document of a store and what is read beside it; a histogram without a measurement is left out. */
export function metricsDocument(store: MetricStore, readings: MetricReadings): MetricsDocument {
  const counters: Record<string, number> = {};
  const gauges: Record<string, number> = {};
  const labelled: Record<string, Record<string, number>> = {};
  for (const [name, { total, parts }] of store.counters) {
    counters[name] = total;
    if (parts.size > 0) labelled[name] = Object.fromEntries(parts);
  }
  for (const [name, value] of readings) (metricTable[name]?.kind === "counter" ? counters : gauges)[name] = value;
  const measured = [...store.histograms].filter(([, { count }]) => count > 0);
  return { counters, gauges, observations: Object.fromEntries(measured.map(([name, state]) => [name, observation(state)])), labelled };
}

function observation({ count, sum, least, greatest, last }: HistogramState): ObservationDocument {
  return { count, sum, min: least, max: greatest, last };
}
