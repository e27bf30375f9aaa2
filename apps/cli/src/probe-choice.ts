import { readFile } from "node:fs/promises";
import path from "node:path";
import { type Envelope, isSinkError } from "@sinks/core";
import { type Configuration, makeMessage, readMessages } from "@sinks/core/runtime";
import type { Host } from "./host.js";
import { NotFoundError } from "./not-found-error.js";
import { oneLine } from "./output/escape.js";
import { parsedSequence } from "./sequence-argument.js";
import { UsageError } from "./usage-error.js";

/** How a command line names the messages to probe: sequences of the stream, or one message made of flags. */
export interface ProbeChoice {
  /** As they stand on the command line. */
  readonly sequences: readonly string[];
  readonly subject: string | undefined;
  /** `NAME=VALUE`. */
  readonly headers: readonly string[];
  readonly data: string | undefined;
  readonly file: string | undefined;
}

/** More would be a batch that nobody can read. */
const mostSequences = 1000;

/** Checks the choice before anything is loaded; throws `UsageError` when it names nothing, or two things. */
export function checkProbeChoice({ sequences, subject, headers, data, file }: ProbeChoice): void {
  const made = headers.length > 0 || data !== undefined || file !== undefined;
  if (sequences.length > 0 && (subject !== undefined || made))
    throw new UsageError("give sequences of the stream, or a message by --subject, not both");
  if (sequences.length > mostSequences) throw new UsageError(`too many sequences; give up to ${mostSequences}`);
  if (subject === undefined && made) throw new UsageError("--header, --data and --file need --subject");
  if (data !== undefined && file !== undefined) throw new UsageError("give the body by --data or by --file, not both");
  if (sequences.length === 0 && subject === undefined) {
    throw new UsageError(
      "no message; give sequences of the stream, or --subject with --data, for example `sinks probe sinks.yaml --subject a.b --data '{}'`",
    );
  }
}

/** The messages chosen. Only sequences need the server: `connect` gives the configuration with its secrets for it. */
export async function probedMessages(
  host: Host,
  choice: ProbeChoice,
  configuration: Configuration,
  connect: () => Configuration,
): Promise<readonly Envelope[]> {
  if (choice.subject !== undefined) return [await madeOf(host, choice.subject, choice, configuration)];
  const sequences = choice.sequences.map(parsedSequence);
  const found = await readMessages(connect(), sequences, host.nowNs);
  const missing = sequences.filter((_, index) => found[index] === null);
  if (missing.length > 0) throw new NotFoundError(`stream ${configuration.nats.stream} has no message at ${missing.join(", ")}`);
  return found.filter((message) => message !== null);
}

async function madeOf(host: Host, subject: string, choice: ProbeChoice, configuration: Configuration): Promise<Envelope> {
  const data =
    choice.file === undefined ? Buffer.from(choice.data ?? "", "utf8") : await bodyOf(path.resolve(host.workingDirectory, choice.file));
  try {
    return makeMessage(configuration, { subject, data, headers: choice.headers.map(headerOf), nowNs: host.nowNs() });
  } catch (error) {
    if (!isSinkError(error)) throw error;
    throw new UsageError(`no message can be like this: ${oneLine(error.message)}`);
  }
}

async function bodyOf(file: string): Promise<Buffer> {
  try {
    return await readFile(file);
  } catch (error) {
    throw new UsageError(`--file: the file cannot be read (${(error as NodeJS.ErrnoException).code ?? "unreadable"})`);
  }
}

function headerOf(text: string): readonly [string, string] {
  const cut = text.indexOf("=");
  if (cut < 1) throw new UsageError("--header takes NAME=VALUE");
  return [text.slice(0, cut), text.slice(cut + 1)];
}
