import { type ConfigurationFault, fault, pathText } from "./faults.js";
import { unknownKeyFault } from "./issue-faults.js";
import { nearestName } from "./nearest-name.js";
import { namedOverrides, namedPrefix, pathPrefix } from "./override-names.js";
import { convertText } from "./override-text.js";
import { isPlainRecord } from "./plain-record.js";
import { configurationSections } from "./schema.js";
import { memberSchema, schemaAt } from "./schema-walk.js";
import { UntypedText } from "./untyped-text.js";

/** Variables of a process, by name. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** One override: the path of its key, its text, and what it is called in messages. */
export interface Override {
  readonly path: readonly string[];
  readonly text: string;
  readonly source: string;
}

/** The overrides of an environment, and a notice for each variable that looks like one and is none. */
export interface EnvironmentOverrides {
  readonly overrides: readonly Override[];
  readonly notices: readonly string[];
}

function isKnown(path: readonly string[]): boolean {
  if (path[0] === "sink" && path.length > 1) return true;
  return schemaAt(configurationSections, path) !== null;
}

function fromPathVariable(name: string): readonly string[] | null {
  const path = name.slice(pathPrefix.length).toLowerCase().split("__");
  return path.length > 0 && path.every((key) => key !== "") && isKnown(path) ? path : null;
}

function unknownVariable(name: string): string {
  if (!name.startsWith(namedPrefix)) return `${name}: no key of the configuration has this name; the variable is ignored`;
  const near = nearestName(name, [...namedOverrides.keys()]);
  return `${name}: unknown override; the variable is ignored${near === null ? "" : `; did you mean ${near}?`}`;
}

/**
 * Finds the overrides of an environment (FW-CFG-05): `NATS_SINKS_<NAME>` and `SINKS__<SECTION>__<KEY>`. A variable that
 * the configuration names itself, such as one that holds a secret, is not taken for an override.
 */
export function environmentOverrides(environment: Environment, named: ReadonlySet<string> = new Set()): EnvironmentOverrides {
  const overrides: Override[] = [];
  const notices: string[] = [];
  for (const [name, text] of Object.entries(environment).sort(([left], [right]) => (left < right ? -1 : 1))) {
    const isPath = name.startsWith(pathPrefix);
    if (text === undefined || named.has(name) || (!isPath && !name.startsWith(namedPrefix))) continue;
    const path = isPath ? fromPathVariable(name) : (namedOverrides.get(name) ?? null);
    if (path === null) notices.push(unknownVariable(name));
    else overrides.push({ path, text, source: name });
  }
  return { overrides, notices };
}

/** Reads `section.key=value`; null when it has no such form. */
export function parseSetting(setting: string): Override | null {
  const at = setting.indexOf("=");
  const path = at < 1 ? [] : setting.slice(0, at).trim().split(".");
  if (path.length === 0 || path.some((key) => key === "")) return null;
  return { path, text: setting.slice(at + 1), source: "--set" };
}

function overrideFault(override: Override): ConfigurationFault | null {
  const { path } = override;
  for (let length = 1; length <= path.length; length += 1) {
    const key = path[length - 1] as string;
    const owner = schemaAt(configurationSections, path.slice(0, length - 1));
    if (path[0] === "sink" && length > 1) return null;
    if (owner === null || memberSchema(owner, key) === null) return unknownKeyFault(configurationSections, path.slice(0, length - 1), key);
  }
  return null;
}

function converted(override: Override): { readonly value: unknown } | { readonly fault: ConfigurationFault } {
  const schema = schemaAt(configurationSections, override.path);
  if (schema === null) return { value: new UntypedText(override.text, override.source) };
  const result = convertText(override.text, schema);
  if ("value" in result) return result;
  return { fault: fault(pathText(override.path), `the override ${override.source} ${result.fault}`, "correct or remove it") };
}

function withValue(record: unknown, path: readonly string[], value: unknown): unknown {
  const [key, ...rest] = path;
  if (key === undefined) return value;
  if (record !== undefined && !isPlainRecord(record)) return record;
  const entries = new Map(Object.entries(record ?? {}));
  entries.set(key, withValue(entries.get(key), rest, value));
  return Object.fromEntries(entries);
}

/** Lays overrides over a raw configuration, later ones over earlier ones; what cannot be laid is a fault. */
export function applyOverrides(
  raw: unknown,
  overrides: readonly Override[],
): { readonly raw: unknown; readonly faults: readonly ConfigurationFault[] } {
  const faults: ConfigurationFault[] = [];
  let result = raw;
  for (const override of overrides) {
    const unknown = overrideFault(override);
    if (unknown !== null) {
      faults.push(unknown);
      continue;
    }
    const outcome = converted(override);
    if ("fault" in outcome) faults.push(outcome.fault);
    else result = withValue(result, override.path, outcome.value);
  }
  return { raw: result, faults };
}
