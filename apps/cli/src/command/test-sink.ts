import { hasHealthcheck, type Sink, silentTelemetry } from "@sinks/core";
import { pipelineName, startLimit, within } from "@sinks/core/runtime";
import type { ConfigurationChoice } from "../configuration-choice.js";
import { exitCodes } from "../exit-code.js";
import type { Host } from "../host.js";
import { warn } from "../load.js";
import { isForeseen, type Problem, problemLine, problemsOf } from "../output/failure-document.js";
import { secondsText } from "../output/number-text.js";
import { type Format, printResult } from "../output/result.js";
import { type Style, styleOf } from "../output/style.js";
import { table } from "../output/table.js";
import { preparePipeline } from "../pipeline.js";

/** What `sinks test-sink` was asked for. */
export interface TestSinkRequest {
  readonly choice: ConfigurationChoice;
  readonly format: Format;
}

interface SinkReport {
  readonly name: string;
  readonly type: string;
  readonly status: "pass" | "fail";
  /** Whether the sink could be asked for the health of its destination. */
  readonly healthcheck: "pass" | "fail" | "unsupported";
  readonly seconds: number;
  readonly problem: Problem | null;
}

/** Starts the sink, asks for the health of its destination, stops it; exit code 3 when one of these fails (FW-CLI-05). */
export async function testSink(host: Host, request: TestSinkRequest): Promise<number> {
  const pipeline = await preparePipeline(host, request.choice);
  warn(host, pipeline.notices);
  const { sink } = pipeline.configuration;
  const report = await probe(host, {
    name: sink.type,
    pipeline: pipelineName(pipeline.configuration, sink.type),
    type: sink.type,
    sink: pipeline.createSink(silentTelemetry),
    limitMs: startLimit(pipeline.configuration),
  });
  printResult(host, request.format, { sinks: [report] }, () => text(report, styleOf(host.stdout, host.environment)));
  return report.status === "pass" ? exitCodes.good : exitCodes.fault;
}

interface Candidate {
  readonly name: string;
  readonly pipeline: string;
  readonly type: string;
  readonly sink: Sink;
  readonly limitMs: number;
}

async function probe(host: Host, { name, pipeline, type, sink, limitMs }: Candidate): Promise<SinkReport> {
  const began = host.monotonicMs();
  const checkable = hasHealthcheck(sink);
  let healthcheck: SinkReport["healthcheck"] = checkable ? "fail" : "unsupported";
  let problem: Problem | null = null;
  try {
    await within(limitMs, (signal) =>
      thenStop(sink, async () => {
        await sink.start({ name, pipeline, telemetry: silentTelemetry, signal });
        if (checkable) await sink.healthcheck(signal);
        if (checkable) healthcheck = "pass";
      }),
    );
  } catch (error) {
    problem = problemOf(error);
  }
  const seconds = Math.round(host.monotonicMs() - began) / 1000;
  return { name, type, status: problem === null ? "pass" : "fail", healthcheck, seconds, problem };
}

/** Stops the sink whatever came of the work; the first error is the one that is told (FW-ERR-06). */
async function thenStop(sink: Sink, work: () => Promise<void>): Promise<void> {
  const worked = await work().then(
    () => null,
    (error: unknown) => ({ error }),
  );
  const stopped = await (async () => sink.stop())().then(
    () => null,
    (error: unknown) => ({ error }),
  );
  const first = worked ?? stopped;
  if (first !== null) throw first.error;
}

function problemOf(error: unknown): Problem {
  const [first] = isForeseen(error) ? problemsOf(error) : [];
  // A driver's own text may hold an address with a login or a statement: only its class is shown (FW-ERR-07).
  return (
    first ?? { path: null, message: `unexpected ${error instanceof Error ? error.name : typeof error}`, remedy: null, code: "unexpected" }
  );
}

function text(report: SinkReport, style: Style): string {
  const row = [report.name, report.type, report.status, report.healthcheck, secondsText(report.seconds)];
  const lines = table(["SINK", "TYPE", "STATUS", "HEALTHCHECK", "TIME"], [row], style.bold);
  return report.problem === null ? lines : `${lines}${style.bad(problemLine(report.problem))}\n`;
}
