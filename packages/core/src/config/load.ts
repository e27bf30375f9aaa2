import { readConfigurationFile } from "./configuration-file.js";
import { type ConfigurationFormat, decodeConfiguration, formatOf, readConfigurationText } from "./configuration-text.js";
import { type ConfigurationFault, fault, faultsError } from "./faults.js";
import { configurationNotices } from "./notices.js";
import { applyOverrides, type Environment, environmentOverrides, type Override, parseSetting } from "./overrides.js";
import type { Configuration } from "./schema.js";
import { findConfigurationFaults, validateConfiguration } from "./validate.js";

/** One value of `--set`, as `section.key=value` or taken apart. */
export type Setting = string | { readonly path: string; readonly value: string };

interface LoadRequest {
  /** Where overrides are looked for; nothing is read from the process itself. */
  readonly environment: Environment;
  /** Overrides of the command line, laid over those of the environment. */
  readonly set?: readonly Setting[];
}

/** A configuration file to load. */
export interface LoadFileRequest extends LoadRequest {
  readonly file: string;
}

/** A configuration that is there as text already. */
export interface LoadTextRequest extends LoadRequest {
  readonly text: string;
  readonly format: ConfigurationFormat;
  /** What the text is called in messages. */
  readonly name?: string;
}

/** A valid configuration, what should be said about it, and where it came from. */
export interface LoadedConfiguration {
  readonly configuration: Configuration;
  /** One line each: keys without effect, unknown variables, choices with a price. */
  readonly notices: readonly string[];
  readonly source: string;
}

function settingOverride(setting: Setting): Override {
  const parsed = typeof setting === "string" ? parseSetting(setting) : parseSetting(`${setting.path}=${setting.value}`);
  // The setting is not repeated: it may hold a secret.
  if (parsed === null)
    throw faultsError([fault("--set", "must have the form section.key=value", "for example --set delivery.batch_size=500")]);
  return parsed;
}

/** Names of the variables that the file itself gives, under keys that end in `_env`. */
function namedVariables(raw: unknown): readonly string[] {
  if (typeof raw !== "object" || raw === null) return [];
  return Object.entries(raw).flatMap(([key, value]) => {
    if (!key.endsWith("_env")) return namedVariables(value);
    const names: readonly unknown[] = typeof value === "object" && value !== null ? Object.values(value) : [value];
    return names.filter((name) => typeof name === "string");
  });
}

/** A configuration with its overrides laid over it, not validated yet. */
export interface RawConfiguration {
  readonly raw: unknown;
  /** What is wrong with the overrides. */
  readonly faults: readonly ConfigurationFault[];
  readonly notices: readonly string[];
  readonly source: string;
}

function withOverrides(raw: unknown, source: string, { environment, set = [] }: LoadRequest): RawConfiguration {
  const found = environmentOverrides(environment, new Set(namedVariables(raw)));
  const laid = applyOverrides(raw, [...found.overrides, ...set.map(settingOverride)]);
  return { ...laid, notices: found.notices, source };
}

/** Reads a configuration and lays the overrides over it. */
export async function readConfiguration(request: LoadFileRequest | LoadTextRequest): Promise<RawConfiguration> {
  if ("file" in request) {
    const text = await readConfigurationFile(request.file);
    return withOverrides(readConfigurationText(text, formatOf(request.file, text), request.file), request.file, request);
  }
  const source = request.name ?? "configuration";
  const text = decodeConfiguration(new TextEncoder().encode(request.text), source);
  return withOverrides(readConfigurationText(text, request.format, source), source, request);
}

/**
 * Reads, overrides and validates a configuration (FW-CFG-01..06). Rejects with one `ConfigurationError` that lists every
 * fault, a line each; no line holds a value of the file or of a variable. No network, no secret is resolved.
 */
export async function loadConfiguration(request: LoadFileRequest | LoadTextRequest): Promise<LoadedConfiguration> {
  const { raw, faults, notices, source } = await readConfiguration(request);
  if (faults.length > 0) throw faultsError([...faults, ...findConfigurationFaults(raw)]);
  const configuration = validateConfiguration(raw);
  return { configuration, notices: [...notices, ...configurationNotices(raw, configuration)], source };
}
