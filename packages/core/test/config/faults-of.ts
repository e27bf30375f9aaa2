import { type ConfigurationFault, configurationFaults, faultLine } from "../../src/config/faults.js";
import { findConfigurationFaults } from "../../src/config/validate.js";

type Patch = Readonly<Record<string, unknown>>;

/** The least valid configuration with sections laid over it, key by key. */
export function configurationWith(patch: Readonly<Record<string, unknown>> = {}): Record<string, unknown> {
  const least: Record<string, Patch> = {
    nats: { stream: "EVENTS", consumer: "sink", subject: "events.>" },
    sink: { type: "file", directory: "out" },
  };
  const merged = Object.entries(patch).map(([section, value]) => {
    const base = least[section];
    return [section, base !== undefined && typeof value === "object" && value !== null ? { ...base, ...value } : value];
  });
  return { ...least, ...Object.fromEntries(merged) };
}

/** The fault lines of the least configuration with a patch. */
export function faultLines(patch: Readonly<Record<string, unknown>>): string[] {
  return findConfigurationFaults(configurationWith(patch)).map(faultLine);
}

/** The faults that a call throws or rejects with. */
export async function faultsOf(call: () => unknown): Promise<readonly ConfigurationFault[]> {
  try {
    await call();
  } catch (error) {
    return configurationFaults(error);
  }
  return [];
}
