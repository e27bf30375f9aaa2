import type { ConfigurationChoice } from "../configuration-choice.js";
import { openDeadLetters } from "../dead-letter-access.js";
import { exitCodes } from "../exit-code.js";
import type { Host } from "../host.js";
import { type DeadLetterLine, deadLetterLine } from "../output/dead-letter-line.js";
import { type Format, printResult } from "../output/result.js";
import { styleOf } from "../output/style.js";
import { table } from "../output/table.js";

/** What `sinks dlq list` was asked for. */
export interface DlqListRequest {
  readonly choice: ConfigurationChoice;
  readonly from: number;
  readonly limit: number;
  readonly format: Format;
}

/** Prints one page of dead letters, repeats of one message shown once (FW-CLI-11, FW-DLQ-03). */
export async function dlqList(host: Host, request: DlqListRequest): Promise<number> {
  await using reader = await openDeadLetters(host, request.choice);
  const page = await reader.list({ from: request.from, limit: request.limit });
  const done = await reader.done(page.entries);
  const lines = page.entries.map((entry) => deadLetterLine(entry, done.has(entry.sequence)));
  printResult(host, request.format, lines, () => text(lines, host));
  if (page.next !== null && request.format === "text") host.stderr.write(`sinks: there are more; continue with --from ${page.next}\n`);
  return exitCodes.good;
}

function text(lines: readonly DeadLetterLine[], host: Host): string {
  if (lines.length === 0) return "no dead letters\n";
  const rows = lines.map((line) => [
    `${line.sequence}`,
    line.time,
    line.subject ?? "-",
    line.stream === null ? "-" : `${line.stream}:${line.stream_sequence ?? "?"}`,
    line.error_code ?? line.error_type ?? "-",
    line.sink ?? "-",
    line.done ? "yes" : "no",
  ]);
  return table(["SEQUENCE", "TIME", "SUBJECT", "ORIGINAL", "ERROR", "SINK", "DONE"], rows, styleOf(host.stdout, host.environment).bold);
}
