import { type FileHandle, open } from "node:fs/promises";
import path from "node:path";
import { starterConfiguration } from "@sinks/core/runtime";
import { type ConnectorChoice, importConnector } from "../connector-access.js";
import { exitCodes } from "../exit-code.js";
import type { Host } from "../host.js";
import { type Format, printResult } from "../output/result.js";
import { UsageError } from "../usage-error.js";

/** What `sinks init` was asked for. */
export interface InitRequest extends ConnectorChoice {
  /** Null writes to standard output. */
  readonly output: string | null;
  readonly force: boolean;
  readonly format: Format;
}

/** Writes a commented starter configuration for a connector; a file that is there is replaced only by force. */
export async function init(host: Host, request: InitRequest): Promise<number> {
  const { name, output, force, format } = request;
  const configuration = starterConfiguration(await importConnector(host, request));
  if (output === null) {
    printResult(host, format, { connector: name, output, configuration }, () => configuration);
    return exitCodes.good;
  }
  await writeNew(path.resolve(host.workingDirectory, output), configuration, force);
  printResult(host, format, { connector: name, output }, () => `wrote ${output}; edit it, then: sinks validate ${output}\n`);
  return exitCodes.good;
}

const reasons: Readonly<Record<string, string>> = {
  EEXIST: "is there already; use --force to replace it, or another --output",
  ENOENT: "cannot be written, its folder does not exist; make the folder first",
  EISDIR: "is a folder; name a file",
  EACCES: "may not be written by this user; name another --output",
};

async function writeNew(file: string, text: string, force: boolean): Promise<void> {
  try {
    await using handle: FileHandle = await open(file, force ? "w" : "wx");
    await handle.writeFile(text);
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? "unknown";
    throw new UsageError(`${file}: ${reasons[code] ?? `cannot be written (${code})`}`);
  }
}
