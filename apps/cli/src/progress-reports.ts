import type { Telemetry } from "@sinks/core";
import type { RunnerStatus } from "@sinks/core/runtime";
import { progressFields, progressText, RateMeter } from "./output/progress.js";
import type { ProgressLine } from "./output/progress-line.js";

/** How the progress of a run is shown. */
export interface ProgressReportOptions {
  readonly status: () => RunnerStatus;
  readonly telemetry: Telemetry;
  readonly line: ProgressLine;
  readonly onTerminal: boolean;
  /** Without a terminal: time between log lines. */
  readonly logIntervalMs: number;
  readonly monotonicMs: () => number;
}

const redrawMs = 500;

/** Shows progress until disposed: a line written over on a terminal, otherwise a log line at an interval (FW-CLI-09). */
export function reportProgress(options: ProgressReportOptions): Disposable {
  const { status, telemetry, line, onTerminal } = options;
  const rate = new RateMeter(onTerminal ? undefined : options.logIntervalMs);
  rate.read(status(), options.monotonicMs());
  const tick = (): void => {
    const now = status();
    const perSecond = rate.read(now, options.monotonicMs());
    if (onTerminal) line.show(progressText(now, perSecond));
    else telemetry.log("info", "progress", progressFields(now, perSecond));
  };
  const timer = setInterval(tick, onTerminal ? redrawMs : options.logIntervalMs);
  timer.unref();
  return {
    [Symbol.dispose]() {
      clearInterval(timer);
      line.end();
    },
  };
}
