import { silentTelemetry } from "@sinks/core";
import { resolveSecrets, type SequenceRange, type Verification, verifyPipeline } from "@sinks/core/runtime";
import type { ConfigurationChoice } from "../configuration-choice.js";
import { exitCodes } from "../exit-code.js";
import type { Host } from "../host.js";
import { warn } from "../load.js";
import { oneLine } from "../output/escape.js";
import { type Format, printResult } from "../output/result.js";
import { type Style, styleOf } from "../output/style.js";
import { pairs } from "../output/table.js";
import { preparePipeline } from "../pipeline.js";
import { UsageError } from "../usage-error.js";

/** What `sinks verify` was asked for. */
export interface VerifyCommandRequest {
  readonly choice: ConfigurationChoice;
  readonly from: number | null;
  readonly to: number | null;
  readonly format: Format;
}

/** Ranges that the text names; JSON has all of them. */
const shownRanges = 20;

/** Accounts for every message of the pipeline; exit code 3 when one is missing (FW-CLI-07). */
export async function verify(host: Host, { choice, from, to, format }: VerifyCommandRequest): Promise<number> {
  if (from !== null && to !== null && from > to) throw new UsageError("--from is above --to; give the lower sequence first");
  const pipeline = await preparePipeline(host, choice);
  warn(host, pipeline.notices);
  const configuration = resolveSecrets(pipeline.configuration, host.environment);
  const sink = pipeline.createSink(silentTelemetry);
  const result = await verifyPipeline({ configuration, sink, from, to, signal: new AbortController().signal });
  for (const note of result.notes) host.stderr.write(`sinks: note: ${oneLine(note)}\n`);
  printResult(host, format, document(result), () => text(result, styleOf(host.stdout, host.environment)));
  return result.missing.count === 0 ? exitCodes.good : exitCodes.fault;
}

function document({ expected, stored, deadLettered, pending, purged, missing, duplicates }: Verification) {
  return { expected, stored, dead_lettered: deadLettered, pending, purged, missing: missing.ranges, duplicates: duplicates.ranges };
}

function text(result: Verification, style: Style): string {
  const { expected, stored, deadLettered, pending, purged, missing, duplicates } = result;
  const figures = pairs([
    ["expected", `${expected}`],
    ["stored", `${stored}`],
    ["dead-lettered", `${deadLettered}`],
    ["pending", `${pending}`],
    ["purged", `${purged}`],
    ["missing", listed(missing)],
    ["duplicates", listed(duplicates)],
  ]);
  const verdict = missing.count === 0 ? style.good("nothing is missing") : style.bad(`${missing.count} missing`);
  return `${figures}${verdict}\n`;
}

function listed({ count, ranges }: Verification["missing"]): string {
  if (count === 0) return "0";
  const further = ranges.length > shownRanges ? ", …" : "";
  return `${count}: ${ranges.slice(0, shownRanges).map(rangeText).join(", ")}${further}`;
}

function rangeText([first, last]: SequenceRange): string {
  return first === last ? `${first}` : `${first}-${last}`;
}
