import type { LogFields, LogLevel, Telemetry } from "@sinks/core";

/** One log event as it was reported. */
export interface LoggedEvent {
  readonly level: LogLevel;
  readonly event: string;
  readonly fields: LogFields;
}

/** Keeps what a runner reports. */
export class RecordingTelemetry implements Telemetry {
  readonly events: LoggedEvent[] = [];
  readonly #counters = new Map<string, number>();

  enabled(): boolean {
    return true;
  }

  log(level: LogLevel, event: string, fields: LogFields = {}): void {
    this.events.push({ level, event, fields });
  }

  count(name: string, by = 1): void {
    this.#counters.set(name, this.counter(name) + by);
  }

  /** Total of a counter so far. */
  counter(name: string): number {
    return this.#counters.get(name) ?? 0;
  }

  /** Texts of the events of one level. */
  texts(level: LogLevel): string[] {
    return this.events.filter((logged) => logged.level === level).map(({ event }) => event);
  }
}
