import { type Check, silentTelemetry } from "@sinks/core";
import { diagnose, resolveSecrets } from "@sinks/core/runtime";
import type { ConfigurationChoice } from "../configuration-choice.js";
import { exitCodes } from "../exit-code.js";
import type { Host } from "../host.js";
import { warn } from "../load.js";
import { oneLine } from "../output/escape.js";
import { type Format, printResult } from "../output/result.js";
import { type Style, styleOf } from "../output/style.js";
import { preparePipeline } from "../pipeline.js";

/** What `sinks doctor` was asked for. */
export interface DoctorRequest {
  readonly choice: ConfigurationChoice;
  readonly format: Format;
}

/** Examines server, stream, consumer, dead letters, rights and destination; exit code 3 when a check fails (FW-CLI-06, FW-CLI-10). */
export async function doctor(host: Host, { choice, format }: DoctorRequest): Promise<number> {
  const pipeline = await preparePipeline(host, choice);
  warn(host, pipeline.notices);
  const configuration = resolveSecrets(pipeline.configuration, host.environment);
  const sink = pipeline.createSink(silentTelemetry);
  const found = await diagnose({ configuration, sink });
  const checks = found.map(({ id, status, message, remedy }) => ({
    id,
    status,
    message: oneLine(message),
    remedy: remedy === null ? null : oneLine(remedy),
  }));
  printResult(host, format, { checks }, () => text(checks, styleOf(host.stdout, host.environment)));
  return checks.some(({ status }) => status === "fail") ? exitCodes.fault : exitCodes.good;
}

function text(checks: readonly Check[], style: Style): string {
  const colour = { pass: style.good, warn: style.warning, fail: style.bad, skipped: style.dim };
  const width = Math.max(...checks.map(({ id }) => id.length));
  const lines = checks.map(({ id, status, message, remedy }) => {
    const line = `${colour[status](status.padEnd("skipped".length))}  ${id.padEnd(width)}  ${message}`;
    return remedy === null ? line : `${line}\n${" ".repeat("skipped".length + width + 4)}fix: ${remedy}`;
  });
  return `${lines.join("\n")}\n`;
}
