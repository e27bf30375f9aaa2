import { redactedConfiguration } from "@sinks/core/runtime";
import { stringify } from "yaml";
import type { ConfigurationChoice } from "../configuration-choice.js";
import { exitCodes } from "../exit-code.js";
import type { Host } from "../host.js";
import { warn } from "../load.js";
import { type Format, printResult } from "../output/result.js";
import { loadChosenPipeline } from "../pipeline.js";

/** What `sinks config show` was asked for. */
export interface ConfigShowRequest {
  readonly choice: ConfigurationChoice;
  readonly format: Format;
}

/** Prints the effective configuration with every default, secrets redacted by the mark of their schema (FW-CLI-11, FW-CFG-04). */
export async function configShow(host: Host, { choice, format }: ConfigShowRequest): Promise<number> {
  const { configuration, connector, options, notices } = await loadChosenPipeline(host, choice);
  warn(host, notices);
  const shown = redactedConfiguration(configuration, { schema: connector.options, options });
  printResult(host, format, shown, () => stringify(shown, { aliasDuplicateObjects: false, lineWidth: 0 }));
  return exitCodes.good;
}
