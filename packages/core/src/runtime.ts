export { configurationFaults, type ConfigurationFault } from "./config/faults.js";
export { type LoadedConfiguration, loadConfiguration } from "./config/load.js";
export { resolveSecrets } from "./config/resolve-secrets.js";
export { type Configuration, configurationSchema } from "./config/schema.js";
export { validateConfiguration } from "./config/validate.js";
export type { DeadLetterEntry } from "./runner/dead-letter-entry.js";
export { createRunner } from "./runner/runner.js";
export type { RunSummary, Runner, RunnerOptions, RunnerStatus } from "./runner/runner-contract.js";
export { type DeadLetterReader, openDeadLetterReader } from "./source/dead-letter-reader.js";
