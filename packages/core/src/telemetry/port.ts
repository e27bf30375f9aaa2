/** Severity of a log event, most urgent first. */
export type LogLevel = "error" | "warn" | "info" | "debug";

/** Facts of a log event: codes, identifiers, counts. Never a payload, a header value, a secret or a statement. */
export type LogFields = Readonly<Record<string, string | number | bigint | boolean | null>>;

/** The one way out for observation; an implementation never throws and never blocks (FW-OBS-06). */
export interface Telemetry {
  /** True when an event of this level would be kept; ask before building expensive fields. */
  enabled(level: LogLevel): boolean;
  log(level: LogLevel, event: string, fields?: LogFields): void;
  /** Adds to a counter. */
  count(name: string, by?: number): void;
}

/** Keeps nothing. */
export const silentTelemetry: Telemetry = Object.freeze({
  enabled: () => false,
  log: () => undefined,
  count: () => undefined,
});
