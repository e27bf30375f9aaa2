import { readConfigurationFile } from "./configuration-file.js";
import { type ConfigurationFormat, decodeConfiguration, formatOf, readConfigurationText } from "./configuration-text.js";
import { fault, faultsError } from "./faults.js";
import { configurationNotices } from "./notices.js";
import { type Environment, type Override, applyOverrides, environmentOverrides, parseSetting } from "./overrides.js";
import { type Configuration, configurationSections } from "./schema.js";
import { secretPairs } from "./secret-pairs.js";
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
  if (parsed === null) throw faultsError([fault("--set", "must have the form section.key=value", "for example --set delivery.batch_size=500")]);
  return parsed;
}

function namedVariables(raw: unknown): ReadonlySet<string> {
  const names = secretPairs(configurationSections, raw).map(({ owner, variableKey }) => owner[variableKey]);
  const sink = (raw as { sink?: unknown } | null)?.sink;
  const sinkNames = typeof sink === "object" && sink !== null ? Object.entries(sink).flatMap(([key, value]) => (key.endsWith("_env") ? [value as unknown] : [])) : [];
  return new Set([...names, ...sinkNames].filter((name) => typeof name === "string"));
}

function loadRaw(raw: unknown, source: string, { environment, set = [] }: LoadRequest): LoadedConfiguration {
  const found = environmentOverrides(environment, namedVariables(raw));
  const laid = applyOverrides(raw, [...found.overrides, ...set.map(settingOverride)]);
  if (laid.faults.length > 0) throw faultsError([...laid.faults, ...findConfigurationFaults(laid.raw)]);
  const configuration = validateConfiguration(laid.raw);
  return { configuration, notices: [...found.notices, ...configurationNotices(laid.raw, configuration)], source };
}

/**
 * Reads, overrides and validates a configuration (FW-CFG-01..06). Rejects with one `ConfigurationError` that lists every
 * fault, a line each; no line holds a value of the file or of a variable. No network, no secret is resolved.
 */
export async function loadConfiguration(request: LoadFileRequest | LoadTextRequest): Promise<LoadedConfiguration> {
  if ("file" in request) {
    const text = await readConfigurationFile(request.file);
    return loadRaw(readConfigurationText(text, formatOf(request.file, text), request.file), request.file, request);
  }
  const source = request.name ?? "configuration";
  const text = decodeConfiguration(new TextEncoder().encode(request.text), source);
  return loadRaw(readConfigurationText(text, request.format, source), source, request);
}
