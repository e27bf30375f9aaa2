import type { CounterState, HistogramState, MetricStore } from "./metric-store.js";
import { metricTable } from "./metric-table.js";

/** Values read at the moment of asking, by name without the namespace: gauges, and counters kept elsewhere. */
export type MetricReadings = ReadonlyMap<string, number>;

/** How metrics are written: the older text of Prometheus, or OpenMetrics 1.0. */
export type MetricFormat = "prometheus" | "openmetrics";

/** All metrics as text for a collector, each name under the namespace. */
export function metricText(namespace: string, store: MetricStore, readings: MetricReadings, format: MetricFormat): string {
  const lines: string[] = [];
  const family = (name: string, kind: string): string => {
    // OpenMetrics names the family of a counter without the suffix of its sample.
    const shown = format === "openmetrics" && kind === "counter" ? name.replace(/_total$/, "") : name;
    const help = metricTable[name]?.help ?? "Reported by the connector.";
    lines.push(`# HELP ${namespace}_${shown} ${help}`, `# TYPE ${namespace}_${shown} ${kind}`);
    return `${namespace}_${name}`;
  };
  for (const [name, state] of store.counters) {
    if (!readings.has(name)) lines.push(...counterLines(family(name, "counter"), metricTable[name]?.label ?? "kind", state));
  }
  for (const [name, value] of readings) {
    const kind = metricTable[name]?.kind ?? "gauge";
    lines.push(`${family(name, kind)} ${numberText(value)}`);
  }
  for (const [name, state] of store.histograms) lines.push(...histogramLines(family(name, "histogram"), state));
  if (format === "openmetrics") lines.push("# EOF");
  return `${lines.join("\n")}\n`;
}

function counterLines(name: string, label: string, { total, parts }: CounterState): string[] {
  if (parts.size === 0) return [`${name} ${numberText(total)}`];
  const lines = [...parts].map(([word, value]) => `${name}{${label}="${word}"} ${numberText(value)}`);
  const rest = total - [...parts.values()].reduce((sum, value) => sum + value, 0);
  return rest > 0 ? [...lines, `${name} ${numberText(rest)}`] : lines;
}

function histogramLines(name: string, { bounds, counts, sum, count }: HistogramState): string[] {
  let reached = 0;
  const buckets = bounds.map((bound, index) => {
    reached += counts[index] ?? 0;
    return `${name}_bucket{le="${bucketText(bound)}"} ${reached}`;
  });
  return [...buckets, `${name}_bucket{le="+Inf"} ${count}`, `${name}_sum ${numberText(sum)}`, `${name}_count ${count}`];
}

/** OpenMetrics wants bounds as floating-point numbers, and equal in both formats they stay one series. */
function bucketText(bound: number): string {
  return Number.isInteger(bound) ? `${bound}.0` : String(bound);
}

function numberText(value: number): string {
  if (Number.isFinite(value)) return String(value);
  return Number.isNaN(value) ? "NaN" : value > 0 ? "+Inf" : "-Inf";
}
