import { type LoadedConfiguration, loadConfiguration } from "@sinks/core/runtime";
import { type ConfigurationChoice, chosenFile } from "./configuration-choice.js";
import type { Host } from "./host.js";
import { oneLine } from "./output/escape.js";

/** Loads the configuration that a command line means, with the overrides of the environment and of `--set`. */
export async function loadChosen(host: Host, choice: ConfigurationChoice): Promise<LoadedConfiguration> {
  return loadConfiguration({ file: chosenFile(choice, host), environment: host.environment, set: choice.overrides });
}

/** Says on stderr what a valid configuration should be told, one line each. */
export function warn(host: Host, warnings: readonly string[]): void {
  for (const warning of warnings) host.stderr.write(`sinks: warning: ${oneLine(warning)}\n`);
}
