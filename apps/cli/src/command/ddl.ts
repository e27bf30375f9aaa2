import { ConfigurationError, hasDdl, silentTelemetry } from "@sinks/core";
import type { ConfigurationChoice } from "../configuration-choice.js";
import { exitCodes } from "../exit-code.js";
import type { Host } from "../host.js";
import { warn } from "../load.js";
import { type Format, printResult } from "../output/result.js";
import { preparePipeline } from "../pipeline.js";

/** What `sinks ddl` was asked for. */
export interface DdlRequest {
  readonly choice: ConfigurationChoice;
  readonly format: Format;
}

/** Prints what makes the sink's schema, for an operator to run; touches neither network nor secrets. */
export async function ddl(host: Host, { choice, format }: DdlRequest): Promise<number> {
  const pipeline = await preparePipeline(host, choice);
  warn(host, pipeline.notices);
  const { type } = pipeline.configuration.sink;
  const sink = pipeline.createOfflineSink(silentTelemetry);
  if (!hasDdl(sink)) {
    throw new ConfigurationError(`sink.type: connector "${type}" needs no schema that could be printed`, { code: "not_supported" });
  }
  const statements = sink.ddl();
  if (statements.length === 0) host.stderr.write("sinks: note: as configured, the sink has nothing of its own that had to be made\n");
  printResult(host, format, { type, statements }, () => statements.map((statement) => `${statement}\n`).join("\n"));
  return exitCodes.good;
}
