import type { LogFields, LogLevel, Telemetry } from "../../src/telemetry/port.js";

/** Keeps counters and log events for a test to read. */
export class RecordingTelemetry implements Telemetry {
  readonly counts = new Map<string, number>();
  readonly events: { readonly level: LogLevel; readonly event: string; readonly fields: LogFields }[] = [];

  readonly #observed = new Map<string, readonly number[]>();

  enabled(): boolean {
    return true;
  }

  log(level: LogLevel, event: string, fields: LogFields = {}): void {
    this.events.push({ level, event, fields });
  }

  count(name: string, by = 1, label?: string): void {
    this.counts.set(name, this.counted(name) + by);
    if (label !== undefined) this.counts.set(`${name} ${label}`, this.counted(`${name} ${label}`) + by);
  }

  observe(name: string, value: number): void {
    this.#observed.set(name, [...this.observed(name), value]);
  }

  /** Measurements under a name, in order. */
  observed(name: string): readonly number[] {
    return this.#observed.get(name) ?? [];
  }

  counted(name: string): number {
    return this.counts.get(name) ?? 0;
  }
}
