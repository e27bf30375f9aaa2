import type { MetricStore } from "./metric-store.js";
import type { Telemetry } from "./port.js";

/** A port that keeps what is counted and measured in a store, and hands events on. */
export function measuredTelemetry(port: Telemetry, store: MetricStore): Telemetry {
  return {
    enabled: (level) => port.enabled(level),
    log: (level, event, fields) => port.log(level, event, fields),
    count(name, by, label) {
      store.count(name, by, label);
      port.count(name, by, label);
    },
    observe(name, value) {
      store.observe(name, value);
      port.observe?.(name, value);
    },
  };
}
