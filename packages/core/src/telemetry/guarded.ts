import type { LogFields, LogLevel, Telemetry } from "./port.js";

/**
 * A port that cannot disturb delivery, whatever the one behind it does (FW-OBS-06): what it throws is dropped, and so is the
 * rejection of a promise that it should not have returned.
 */
export function guardTelemetry(port: Telemetry): Telemetry {
  return {
    enabled(level: LogLevel): boolean {
      try {
        return port.enabled(level) === true;
      } catch {
        return false;
      }
    },
    log: (level: LogLevel, event: string, fields?: LogFields) => quietly(() => port.log(level, event, fields)),
    count: (name: string, by?: number, label?: string) => quietly(() => port.count(name, by, label)),
    observe: (name: string, value: number) => quietly(() => port.observe?.(name, value)),
  };
}

function quietly(call: () => unknown): void {
  try {
    const result = call();
    if (result instanceof Promise) result.catch(() => undefined);
  } catch {
    // Whoever observes has failed; there is nobody left to tell, and a message must not wait for it.
  }
}
