import type { LogLevel } from "@sinks/core";
import type { Configuration } from "@sinks/core/runtime";

const levels: Readonly<Record<Configuration["logging"]["level"], LogLevel>> = {
  ERROR: "error",
  WARN: "warn",
  INFO: "info",
  DEBUG: "debug",
};

/** The level of the log port that `logging.level` means. */
export function logLevelOf(level: Configuration["logging"]["level"]): LogLevel {
  return levels[level];
}
