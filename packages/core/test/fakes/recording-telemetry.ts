import type { LogFields, LogLevel, Telemetry } from "../../src/telemetry/port.js";

/** Keeps counters and log events for a test to read. */
export class RecordingTelemetry implements Telemetry {
  readonly counts = new Map<string, number>();
  readonly events: { readonly level: LogLevel; readonly event: string; readonly fields: LogFields }[] = [];

  enabled(): boolean {
    return true;
  }

  log(level: LogLevel, event: string, fields: LogFields = {}): void {
    this.events.push({ level, event, fields });
  }

  count(name: string, by = 1): void {
    this.counts.set(name, this.counted(name) + by);
  }

  counted(name: string): number {
    return this.counts.get(name) ?? 0;
  }
}
