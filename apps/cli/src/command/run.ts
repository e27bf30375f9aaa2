import { isErrorKind, SinksError, type Telemetry } from "@sinks/core";
import { createObservation, createRunner, type Runner, type RunSummary } from "@sinks/core/runtime";
import type { ConfigurationChoice } from "../configuration-choice.js";
import { exitCodes } from "../exit-code.js";
import type { Host } from "../host.js";
import { jsonText } from "../output/json-text.js";
import { ProgressLine } from "../output/progress-line.js";
import { reportFailure } from "../output/report-failure.js";
import { type Format, printResult } from "../output/result.js";
import { summaryDocument, summaryText } from "../output/summary.js";
import { type Pipeline, preparePipeline } from "../pipeline.js";
import { reportProgress } from "../progress-reports.js";
import { type SignalSupervision, superviseSignals } from "../signals.js";
import { logLevelOf } from "../telemetry/log-level.js";
import { createLogTelemetry } from "../telemetry/log-telemetry.js";
import { UsageError } from "../usage-error.js";

/** What `sinks run` was asked for. */
export interface RunRequest {
  readonly choice: ConfigurationChoice;
  readonly format: Format;
  readonly once: boolean;
  readonly timeoutSeconds: number | null;
}

/** Over the bounds of the runner itself, so that an exit forced here is the exception (FW-RUN-28). */
const leaveSlackMs = 1000;

/** Runs the pipeline until a signal, or with `once` until its goal; gives the exit code (FW-CLI-02, 08). */
export async function run(host: Host, request: RunRequest): Promise<number> {
  if (request.timeoutSeconds !== null && !request.once) throw new UsageError("--timeout goes with --once; without it a run has no end");
  const pipeline = await preparePipeline(host, request.choice);
  try {
    return await runPipeline(host, request, pipeline);
  } catch (error) {
    // Who collects JSON logs gets this line as JSON too.
    return reportFailure(error, host, pipeline.configuration.logging.format === "json" ? "json" : request.format);
  }
}

async function runPipeline(host: Host, request: RunRequest, pipeline: Pipeline): Promise<number> {
  const line = new ProgressLine(host.stderr);
  const observation = createObservation({
    configuration: pipeline.configuration,
    telemetry: logTelemetry(host, pipeline, line),
    nowNs: host.nowNs,
    directory: host.workingDirectory,
  });
  const { telemetry } = observation;
  for (const notice of pipeline.notices) telemetry.log("warn", notice);
  await using runner = createRunner({
    configuration: pipeline.configuration,
    createSink: () => pipeline.createSink(telemetry),
    telemetry,
    environment: host.environment,
    once: request.once,
    ...(request.timeoutSeconds === null ? {} : { onceTimeoutMs: request.timeoutSeconds * 1000 }),
  });
  // Before start and until everything has stopped, so that whoever asks meanwhile learns of it.
  await using _offered = observation.offer(() => runner.status());
  using signals = supervise(host, pipeline, runner, telemetry);
  if (!(await started(runner, signals))) {
    await runner.stop();
    return stoppedEarly(request, signals);
  }
  const summary = await runWithProgress(host, pipeline, { runner, signals, telemetry, line });
  // Where stdout and stderr end up in one place, a collector of JSON lines takes this for one of them.
  if (request.format === "text" && pipeline.configuration.logging.format === "json") {
    host.stdout.write(`${jsonText(summaryDocument(summary))}\n`);
  } else printResult(host, request.format, summaryDocument(summary), () => summaryText(summary));
  return verdict(request, summary, signals);
}

function logTelemetry(host: Host, { configuration: { logging } }: Pipeline, line: ProgressLine): Telemetry {
  return createLogTelemetry({
    level: logLevelOf(logging.level),
    format: logging.format,
    nowNs: host.nowNs,
    writeLine: (text) => line.writeLine(text),
  });
}

function supervise(host: Host, { configuration: { delivery } }: Pipeline, runner: Runner, telemetry: Telemetry): SignalSupervision {
  return superviseSignals(host, {
    leaveAfterMs: delivery.shutdown_timeout_ms + delivery.abort_grace_ms + leaveSlackMs,
    onResume() {
      telemetry.log("info", "resume requested", { signal: "SIGHUP" });
      runner.resume();
    },
    onStopping: (signal) => telemetry.log("info", "stopping", { signal }),
    onLeaving: (reason) => telemetry.log("error", "left before drained", { reason }),
  });
}

/** True when the pipeline is ready; false when a signal came first. What is wrong with the configuration is said in any case. */
async function started(runner: Runner, signals: SignalSupervision): Promise<boolean> {
  try {
    await runner.start(signals.signal);
    return !signals.signal.aborted;
  } catch (error) {
    if (!signals.signal.aborted || isErrorKind(error, "ConfigurationError")) throw error;
    return false;
  }
}

function stoppedEarly({ once }: RunRequest, signals: SignalSupervision): number {
  if (once) throw incomplete(`stopped by ${signals.stoppedBy()} before it was ready`);
  return exitCodes.good;
}

function incomplete(reason: string): SinksError {
  return new SinksError(`the run is not complete: ${reason}`, { code: "run_incomplete" });
}

interface Running {
  readonly runner: Runner;
  readonly signals: SignalSupervision;
  readonly telemetry: Telemetry;
  readonly line: ProgressLine;
}

async function runWithProgress(host: Host, { configuration }: Pipeline, running: Running): Promise<RunSummary> {
  using _reports = reportProgress({
    status: () => running.runner.status(),
    telemetry: running.telemetry,
    line: running.line,
    onTerminal: host.stderr.isTerminal,
    logIntervalMs: configuration.logging.progress_interval_seconds * 1000,
    monotonicMs: host.monotonicMs,
  });
  return await running.runner.run(running.signals.signal);
}

/** Good when the run did what it was asked for; throws what is missing otherwise. */
function verdict({ once }: RunRequest, summary: RunSummary, signals: SignalSupervision): number {
  if (summary.reason !== null) throw incomplete(summary.reason);
  // Who runs `--once` takes 0 for "everything is settled", which a signal under way does not say.
  if (once && signals.stoppedBy() !== null) throw incomplete(`stopped by ${signals.stoppedBy()} before its goal`);
  return exitCodes.good;
}
