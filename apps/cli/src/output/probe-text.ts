import { oneLine } from "./escape.js";
import { jsonText } from "./json-text.js";
import type { ProbeDocument, ProbedMessageLine, ProbedWriteLine } from "./probe-document.js";
import type { Style } from "./style.js";
import { pairs } from "./table.js";

/** The result of `sinks probe` for people: each message with its writes, then what is sent together, then retry safety. */
export function probeText(document: ProbeDocument, style: Style): string {
  const { answer, reason } = document.retry_safety;
  const safety = answer === "safe" ? style.good(answer) : style.warning(answer);
  const runs = document.runs.map(
    ({ operation, destination, chunks }, index) => `run ${index + 1}: ${operation} ${destination}, ${chunksText(chunks)}\n`,
  );
  return [
    ...document.messages.map((message) => messageText(message, style)),
    ...runs.map(oneLineKept),
    `repeated after an unknown outcome: ${safety}, ${oneLine(reason)}\n`,
  ].join("");
}

function oneLineKept(line: string): string {
  return `${oneLine(line.trimEnd())}\n`;
}

function chunksText(chunks: readonly number[]): string {
  const parts = chunks.length === 1 ? "sent at once" : `sent in ${chunks.length} parts`;
  const writes = chunks.reduce((sum, count) => sum + count, 0);
  return `${writes === 1 ? "1 write" : `${writes} writes`} ${parts}`;
}

function messageText({ subject, stream_sequence: sequence, problem, writes }: ProbedMessageLine, style: Style): string {
  const title = style.bold(oneLine(`${subject}, sequence ${sequence ?? "unknown"}`));
  if (problem !== null) return `${title}\n  ${style.bad(oneLine(`rejected, ${problem.code}: ${problem.message}`))}\n`;
  if (writes.length === 0) return `${title}\n  nothing to write\n`;
  return `${title}\n${writes.map((write) => writeText(write, style)).join("")}`;
}

function writeText(write: ProbedWriteLine, style: Style): string {
  const { op, ...extras } = write.extras;
  const title = `  ${oneLine(`${String(op)} ${write.destination ?? ""}`.trimEnd())}\n`;
  if (write.problem !== null) return `${title}    ${style.bad(oneLine(`rejected, ${write.problem.code}: ${write.problem.message}`))}\n`;
  const facts: (readonly [string, string])[] = Object.entries(extras).map(([name, value]) => [
    name,
    typeof value === "string" ? value : jsonText(value),
  ]);
  if (write.rendered !== null) facts.push(["sends", write.rendered]);
  facts.push(["values", write.values === null ? `${write.value_count}, not shown (--show-values)` : jsonText(write.values)]);
  return `${title}${pairs(facts).replace(/^(?=.)/gm, "    ")}`;
}
