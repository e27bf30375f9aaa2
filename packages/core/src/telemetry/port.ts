/** Severity of a log event, most urgent first. */
export type LogLevel = "error" | "warn" | "info" | "debug";

/** Facts of a log event: codes, identifiers, counts. Never a payload, a header value, a secret or a statement. */
export type LogFields = Readonly<Record<string, string | number | bigint | boolean | null>>;

/** The one way out for observation; an implementation never throws and never blocks (FW-OBS-06). */
export interface Telemetry {
  /** True when an event of this level would be kept; ask before building expensive fields. */
  enabled(level: LogLevel): boolean;
  log(level: LogLevel, event: string, fields?: LogFields): void;
  /** Adds to a counter. `label` tells parts of it apart: a word of a closed list, such as an error code. */
  count(name: string, by?: number, label?: string): void;
  /** Takes a measurement for a histogram; the unit ends the name. */
  observe?(name: string, value: number): void;
}

/** Keeps nothing. */
export const silentTelemetry: Telemetry = Object.freeze({
  enabled: () => false,
  log: () => undefined,
  count: () => undefined,
});
