import { isErrorKind, silentTelemetry } from "@sinks/core";
import { type ReplayReport, replayDeadLetters } from "@sinks/core/runtime";
import type { ConfigurationChoice } from "../configuration-choice.js";
import { exitCodes } from "../exit-code.js";
import type { Host } from "../host.js";
import { warn } from "../load.js";
import { oneLine } from "../output/escape.js";
import { type Format, printResult } from "../output/result.js";
import { type Style, styleOf } from "../output/style.js";
import { table } from "../output/table.js";
import { preparePipeline } from "../pipeline.js";
import { type ReplayChoice, replaySelection } from "../replay-choice.js";

/** What `sinks dlq replay` was asked for. */
export interface DlqReplayRequest {
  readonly choice: ConfigurationChoice;
  readonly letters: ReplayChoice;
  readonly publish: boolean;
  readonly dryRun: boolean;
  readonly format: Format;
}

/** One dead letter of the result (FW-DLQ-10). */
interface ReplayLine {
  readonly sequence: number;
  readonly stream: string | null;
  readonly stream_sequence: number | bigint | null;
  readonly subject: string | null;
  readonly result: ReplayReport["result"];
  readonly error_code: string | null;
  readonly error: string | null;
}

/**
 * Puts dead letters back and marks them done (FW-DLQ-10): exit code 1 when one could not be, 4 when one is not there or its
 * message cannot be had any more.
 */
export async function dlqReplay(host: Host, request: DlqReplayRequest): Promise<number> {
  const selection = replaySelection(request.letters);
  const pipeline = await preparePipeline(host, request.choice);
  warn(host, pipeline.notices);
  const mode = request.publish ? "publish" : "write";
  const lines: ReplayLine[] = [];
  let complete = true;
  const reports = replayDeadLetters({
    configuration: pipeline.configuration,
    environment: host.environment,
    selection,
    mode,
    dryRun: request.dryRun,
    createSink: () => pipeline.createSink(silentTelemetry),
    telemetry: silentTelemetry,
    signal: new AbortController().signal,
  });
  for await (const report of reports) {
    lines.push(replayLine(report));
    if (!report.ends) continue;
    complete = false;
    host.stderr.write(`sinks: stopped at dead letter ${report.sequence}: ${reasonOf(report)}; repeat the replay after the repair\n`);
  }
  printResult(host, request.format, { mode, dry_run: request.dryRun, complete, entries: lines }, () =>
    text(lines, styleOf(host.stdout, host.environment)),
  );
  return exitCodeOf(lines);
}

function replayLine({ sequence, entry, result, error }: ReplayReport): ReplayLine {
  return {
    sequence,
    stream: entry?.stream ?? null,
    stream_sequence: entry?.streamSequence ?? null,
    subject: entry?.subject ?? null,
    result,
    error_code: error?.code ?? null,
    error: error?.message ?? null,
  };
}

function reasonOf({ error }: ReplayReport): string {
  return isErrorKind(error, "SinksError") ? oneLine(error.message) : "unexpected";
}

function exitCodeOf(lines: readonly ReplayLine[]): number {
  const results = new Set(lines.map(({ result }) => result));
  if (results.has("failed")) return exitCodes.failure;
  return results.has("unavailable") || results.has("not_found") ? exitCodes.notFound : exitCodes.good;
}

function text(lines: readonly ReplayLine[], style: Style): string {
  if (lines.length === 0) return "no dead letters to replay\n";
  const rows = lines.map((line) => [
    `${line.sequence}`,
    line.subject ?? "-",
    line.stream === null ? "-" : `${line.stream}:${line.stream_sequence ?? "?"}`,
    line.result,
    line.error ?? "-",
  ]);
  return table(["SEQUENCE", "SUBJECT", "ORIGINAL", "RESULT", "ERROR"], rows, style.bold);
}
