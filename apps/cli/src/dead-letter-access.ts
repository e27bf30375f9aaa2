import { type DeadLetterReader, openDeadLetterReader, resolveSecrets } from "@sinks/core/runtime";
import type { ConfigurationChoice } from "./configuration-choice.js";
import type { Host } from "./host.js";
import { loadChosen, warn } from "./load.js";

/** Opens the dead letters of the configuration that a command line means; the sink's connector is not needed for it. */
export async function openDeadLetters(host: Host, choice: ConfigurationChoice): Promise<DeadLetterReader> {
  const { configuration, notices } = await loadChosen(host, choice);
  warn(host, notices);
  return openDeadLetterReader(resolveSecrets(configuration, host.environment));
}
