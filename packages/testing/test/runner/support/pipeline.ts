import { createRunner, type Runner, type RunnerOptions, type RunSummary } from "@sinks/core/runtime";
import type { RecordingSink } from "./recording-sink.js";
import { RecordingTelemetry } from "./recording-telemetry.js";
import type { Stage } from "./stage.js";

/** A runner that runs; dispose stops it. */
export interface RunningPipeline extends AsyncDisposable {
  readonly runner: Runner;
  readonly telemetry: RecordingTelemetry;
  /** Settles when the run has ended. */
  readonly ended: Promise<RunSummary>;
  /** Stops it and gives its totals. */
  stop(): Promise<RunSummary>;
}

/** Builds a runner of a stage into a recording sink without starting it. */
export function buildRunner(
  stage: Stage,
  sink: Pick<RecordingSink, "create">,
  sections: Readonly<Record<string, unknown>> = {},
  options: Partial<RunnerOptions> = {},
): { runner: Runner; telemetry: RecordingTelemetry } {
  const telemetry = new RecordingTelemetry();
  const runner = createRunner({ configuration: stage.configuration(sections), createSink: sink.create, telemetry, ...options });
  return { runner, telemetry };
}

/** Starts a runner of a stage into a recording sink and lets it run. */
export async function startPipeline(
  stage: Stage,
  sink: Pick<RecordingSink, "create">,
  sections: Readonly<Record<string, unknown>> = {},
  options: Partial<RunnerOptions> = {},
): Promise<RunningPipeline> {
  const { runner, telemetry } = buildRunner(stage, sink, sections, options);
  await runner.start();
  const ended = runner.run();
  const stop = async () => {
    await runner.stop();
    return ended;
  };
  return { runner, telemetry, ended, stop, [Symbol.asyncDispose]: async () => void (await stop()) };
}

/** Runs until everything up to the stream's present end is settled. */
export async function runOnce(
  stage: Stage,
  sink: Pick<RecordingSink, "create">,
  sections: Readonly<Record<string, unknown>> = {},
  options: Partial<RunnerOptions> = {},
): Promise<RunSummary & { readonly telemetry: RecordingTelemetry }> {
  const { runner, telemetry } = buildRunner(stage, sink, sections, { once: true, onceTimeoutMs: 20_000, ...options });
  await runner.start();
  return { ...(await runner.run()), telemetry };
}
