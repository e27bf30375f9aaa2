import { crossCheckFaults } from "./cross-checks.js";
import { deriveDefaults } from "./derive-defaults.js";
import { type ConfigurationFault, fault, faultsError } from "./faults.js";
import { issueFaults } from "./issue-faults.js";
import { laterFeatureFaults } from "./later-features.js";
import { isPlainRecord } from "./plain-record.js";
import { type Configuration, type ConfigurationSections, configurationSections } from "./schema.js";
import { secretPairFaults } from "./secret-pairs.js";

function validSections(raw: Readonly<Record<string, unknown>>): Partial<ConfigurationSections> {
  const entries = Object.entries(configurationSections.shape).flatMap(([name, schema]) => {
    const parsed = schema.safeParse(raw[name]);
    return parsed.success ? [[name, parsed.data] as const] : [];
  });
  return Object.fromEntries(entries) as Partial<ConfigurationSections>;
}

function checkAll(raw: unknown): { readonly sections: ConfigurationSections } | { readonly faults: readonly ConfigurationFault[] } {
  if (!isPlainRecord(raw)) return { faults: [fault("configuration", "wrong type", "expected an object with sections at the root")] };
  const parsed = configurationSections.safeParse(raw);
  const sections = parsed.success ? parsed.data : validSections(raw);
  const faults = [
    ...(parsed.success ? [] : issueFaults(parsed.error.issues, configurationSections, raw)),
    ...secretPairFaults(configurationSections, raw),
    ...crossCheckFaults(sections),
    ...laterFeatureFaults(sections),
  ];
  return parsed.success && faults.length === 0 ? { sections: parsed.data } : { faults };
}

/** Everything that is wrong with a raw configuration; empty when it is valid. */
export function findConfigurationFaults(raw: unknown): readonly ConfigurationFault[] {
  const result = checkAll(raw);
  return "faults" in result ? result.faults : [];
}

/**
 * Validates a raw or an already validated configuration: types, ranges, unknown keys, rules between keys and features of
 * later releases (FW-CFG-03). Throws one `ConfigurationError` that lists every fault, a line each.
 */
export function validateConfiguration(raw: unknown): Configuration {
  const result = checkAll(raw);
  if ("faults" in result) throw faultsError(result.faults);
  return deriveDefaults(result.sections);
}
