import { fault, faultsError } from "./faults.js";
import { readJsonText, TextFault } from "./json-text.js";
import { readYamlText } from "./yaml-text.js";

/** Notation of a configuration. */
export type ConfigurationFormat = "json" | "yaml";

/** Largest configuration, in bytes. */
export const maximumConfigurationBytes = 1_048_576;

/** Notation of a file by its name; text that begins with `{` is JSON when the name says nothing. */
export function formatOf(name: string, text: string): ConfigurationFormat {
  if (/\.json$/i.test(name)) return "json";
  if (/\.ya?ml$/i.test(name)) return "yaml";
  return text.trimStart().startsWith("{") ? "json" : "yaml";
}

/** Decodes the bytes of a configuration; anything but UTF-8 of up to 1 MiB is refused. A byte order mark is dropped. */
export function decodeConfiguration(bytes: Uint8Array, source: string): string {
  if (bytes.length > maximumConfigurationBytes) throw faultsError([fault(source, "larger than 1 MiB", "keep the configuration small")]);
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (cause) {
    const error = faultsError([fault(source, "not valid UTF-8", "save the file as UTF-8")]);
    error.cause = cause;
    throw error;
  }
}

/** Reads the text of a configuration; faults name the source, line and column, never the text (FW-CFG-01). */
export function readConfigurationText(text: string, format: ConfigurationFormat, source: string): unknown {
  const name = format === "json" ? "JSON" : "YAML";
  if (format === "yaml" && text.trim() === "")
    throw faultsError([fault(source, "it is empty", "`sinks init` prints a starter configuration")]);
  try {
    return format === "json" ? readJsonText(text) : readYamlText(text);
  } catch (problem) {
    if (problem instanceof TextFault)
      throw faultsError([fault(source, `line ${problem.line}, column ${problem.column}: ${problem.message}`, `correct the ${name}`)]);
    throw faultsError([fault(source, `cannot be read as ${name}`, "it may be nested too deep")]);
  }
}
