import type { LogLevel, Telemetry } from "@sinks/core";
import { jsonLogLine, textLogLine } from "./log-line.js";

/** How and where log lines go. */
export interface LogTelemetryOptions {
  /** The least urgent level that is kept. */
  readonly level: LogLevel;
  readonly format: "text" | "json";
  /** Receives one line without its end. */
  readonly writeLine: (line: string) => void;
  readonly nowNs: () => bigint;
}

const urgency: Readonly<Record<LogLevel, number>> = { error: 0, warn: 1, info: 2, debug: 3 };

/** A telemetry port that writes one line per event and keeps no counters (FW-OBS-04). */
export function createLogTelemetry({ level, format, writeLine, nowNs }: LogTelemetryOptions): Telemetry {
  const render = format === "json" ? jsonLogLine : textLogLine;
  const enabled = (asked: LogLevel): boolean => urgency[asked] <= urgency[level];
  return {
    enabled,
    log(asked, event, fields = {}) {
      if (!enabled(asked)) return;
      try {
        writeLine(render({ time: new Date(Number(nowNs() / 1_000_000n)), level: asked, event, fields }));
      } catch {
        // A log line that cannot be made or written is no reason to disturb delivery (FW-OBS-06).
      }
    },
    count: () => undefined,
  };
}
