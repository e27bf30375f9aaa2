import type { DeadLetterEntry } from "@sinks/core/runtime";
import type { ConfigurationChoice } from "../configuration-choice.js";
import { openDeadLetters } from "../dead-letter-access.js";
import { exitCodes } from "../exit-code.js";
import type { Host } from "../host.js";
import { NotFoundError } from "../not-found-error.js";
import { type DeadLetterLine, deadLetterLine } from "../output/dead-letter-line.js";
import { type DecodedPayload, decodePayload, payloadText } from "../output/decoded-payload.js";
import { type Format, printResult } from "../output/result.js";
import { pairs } from "../output/table.js";
import { parsedSequence } from "../sequence-argument.js";
import { UsageError } from "../usage-error.js";

/** What `sinks dlq show` was asked for. */
export interface DlqShowRequest {
  readonly choice: ConfigurationChoice;
  /** As it stands on the command line. */
  readonly sequence: string | undefined;
  readonly format: Format;
}

/** One dead letter as a document: the line of the list, what went wrong, the payload decoded, and the rest of the record. */
interface DeadLetterDocument extends DeadLetterLine {
  readonly error: string | null;
  readonly payload: string | null;
  readonly payload_encoding: DecodedPayload["encoding"] | null;
  readonly payload_unavailable_reason: string | null;
  readonly record: Readonly<Record<string, unknown>> | null;
}

/** Prints one dead letter with its payload; exit code 4 when there is none at the sequence (FW-CLI-11). */
export async function dlqShow(host: Host, request: DlqShowRequest): Promise<number> {
  if (request.sequence === undefined) {
    throw new UsageError("no sequence; give the one that `sinks dlq list` shows, for example `sinks dlq show sinks.yaml 12`");
  }
  const sequence = parsedSequence(request.sequence);
  await using reader = await openDeadLetters(host, request.choice);
  const entry = await reader.read(sequence);
  if (entry === null)
    throw new NotFoundError(`there is no dead letter at sequence ${sequence}; \`sinks dlq list\` shows those that are there`);
  const done = await reader.done([entry]);
  const payload = entry.payload === null ? null : decodePayload(entry.payload);
  printResult(host, request.format, document(entry, done.has(sequence), payload), () => text(entry, done.has(sequence), payload));
  return exitCodes.good;
}

function document(entry: DeadLetterEntry, done: boolean, payload: DecodedPayload | null): DeadLetterDocument {
  return {
    ...deadLetterLine(entry, done),
    error: entry.error,
    payload: payload?.text ?? null,
    payload_encoding: payload?.encoding ?? null,
    payload_unavailable_reason: entry.payloadUnavailableReason,
    record: entry.record,
  };
}

function text(entry: DeadLetterEntry, done: boolean, payload: DecodedPayload | null): string {
  const original = entry.stream === null ? "-" : `${entry.stream}, sequence ${entry.streamSequence ?? "?"}`;
  const headers = Object.entries((entry.record?.["headers"] ?? {}) as Record<string, unknown>);
  const facts: (readonly [string, string])[] = [
    ["sequence", `${entry.sequence}`],
    ["time", entry.time],
    ["subject", entry.subject ?? "-"],
    ["original", original],
    ["sink", entry.sink ?? "-"],
    ["error", [entry.errorCode, entry.errorType].filter((part) => part !== null).join(", ") || "-"],
    ["reason", entry.error ?? "-"],
    ["done", done ? "yes" : "no"],
    ...headers.map(([name, value]) => [`header ${name}`, String(value)] as const),
  ];
  return `${pairs(facts)}\n${payload === null ? `no payload (${entry.payloadUnavailableReason ?? "not part of the record"})\n` : payloadText(payload)}`;
}
