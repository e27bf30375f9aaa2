import { isErrorKind, type Sink, silentTelemetry } from "@sinks/core";
import { probeSink, resolveSecrets, startLimit, within } from "@sinks/core/runtime";
import type { ConfigurationChoice } from "../configuration-choice.js";
import { exitCodes } from "../exit-code.js";
import type { Host } from "../host.js";
import { warn } from "../load.js";
import { oneLine } from "../output/escape.js";
import { problemLine, problemsOf } from "../output/failure-document.js";
import { probeDocument } from "../output/probe-document.js";
import { probeText } from "../output/probe-text.js";
import { type Format, printResult } from "../output/result.js";
import { styleOf } from "../output/style.js";
import { type Pipeline, preparePipeline } from "../pipeline.js";
import { checkProbeChoice, type ProbeChoice, probedMessages } from "../probe-choice.js";

/** What `sinks probe` was asked for. */
export interface ProbeCommandRequest {
  readonly choice: ConfigurationChoice;
  readonly messages: ProbeChoice;
  readonly showValues: boolean;
  readonly format: Format;
}

/**
 * Says what the pipeline would write for some messages and writes nothing (WO-OB-01, WO-OB-02): exit code 3 when one of them
 * would be rejected, 4 when the stream has none at a sequence.
 */
export async function probe(host: Host, { choice, messages, showValues, format }: ProbeCommandRequest): Promise<number> {
  checkProbeChoice(messages);
  const pipeline = await preparePipeline(host, choice);
  warn(host, pipeline.notices);
  const { configuration } = pipeline;
  const chosen = await probedMessages(host, messages, configuration, () => resolveSecrets(configuration, host.environment));
  const sink = sinkOf(pipeline, host);
  const report = await within(startLimit(configuration), (signal) =>
    probeSink({ configuration, sink, messages: chosen, showValues, signal }),
  );
  const document = probeDocument(report);
  for (const note of document.notes) host.stderr.write(`sinks: note: ${oneLine(note)}\n`);
  printResult(host, format, document, () => probeText(document, styleOf(host.stdout, host.environment)));
  const faults = document.messages.some(({ problem, writes }) => problem !== null || writes.some((write) => write.problem !== null));
  return faults ? exitCodes.fault : exitCodes.good;
}

/** Most plans need no destination, so a secret that is not here is only told: a probe is often made elsewhere. */
function sinkOf(pipeline: Pipeline, host: Host): Sink {
  try {
    return pipeline.createSink(silentTelemetry);
  } catch (error) {
    if (!isErrorKind(error, "ConfigurationError") || error.code !== "secret_missing") throw error;
    warn(host, problemsOf(error).map(problemLine));
    return pipeline.createOfflineSink(silentTelemetry);
  }
}
