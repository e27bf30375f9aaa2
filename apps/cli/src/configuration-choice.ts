import path from "node:path";
import type { Host } from "./host.js";
import { UsageError } from "./usage-error.js";

/** What a command line says about its configuration. */
export interface ConfigurationChoice {
  readonly positional: string | undefined;
  readonly file: string | undefined;
  /** `section.key=value`, in the order given; read when the configuration is loaded. */
  readonly overrides: readonly string[];
  readonly project: string | undefined;
}

/** The configuration file that a command line means: its first argument, `-c`, or the variable SINKS_CONFIG (FW-CLI-01). */
export function chosenFile(choice: ConfigurationChoice, host: Pick<Host, "environment" | "workingDirectory">): string {
  if (choice.positional !== undefined && choice.file !== undefined) {
    throw new UsageError("the configuration is given twice, as an argument and with -c; give it once");
  }
  const file = choice.positional ?? choice.file ?? host.environment["SINKS_CONFIG"];
  if (file === undefined || file === "") {
    throw new UsageError("no configuration; give a file as the first argument, with -c FILE, or in the variable SINKS_CONFIG");
  }
  return path.resolve(host.workingDirectory, file);
}
