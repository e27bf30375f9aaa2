import { type ConfigurationFault, fault, pathText } from "./faults.js";
import type { ConfigurationSections } from "./schema.js";

/** A key whose feature comes later. */
export interface LaterFeature {
  readonly path: readonly string[];
  /** The value that asks for it, as the reference prints it. */
  readonly asked: string;
  /** True when the value asks for the feature. */
  readonly asks: (value: unknown) => boolean;
  readonly remedy: string;
}

const isWebAddress = (value: unknown) => typeof value === "string" && /^wss?:/i.test(value);
const isTrue = (value: unknown) => value === true;
const enabled = (...path: string[]): LaterFeature => ({ path, asked: "true", asks: isTrue, remedy: "set it to false or remove it" });

/** Keys that are valid but whose feature is not part of this release; asking for one is refused, never ignored. */
export const laterFeatures: readonly LaterFeature[] = [
  { path: ["nats", "url"], asked: "ws:// or wss://", asks: isWebAddress, remedy: "use nats:// or tls://" },
  {
    path: ["nats", "urls"],
    asked: "ws:// or wss://",
    asks: (value) => Array.isArray(value) && value.some(isWebAddress),
    remedy: "use nats:// or tls://",
  },
  enabled("push_consumer", "enabled"),
  enabled("delivery", "priority_lanes", "enabled"),
  enabled("mission_metadata", "enabled"),
  enabled("security_labels", "enabled"),
  enabled("advisories", "enabled"),
  enabled("routing", "enabled"),
  {
    path: ["sinks"],
    asked: "any entry",
    asks: (value) => Object.keys((value as object | undefined) ?? {}).length > 0,
    remedy: "describe the one destination in `sink`",
  },
  { path: ["sink", "type"], asked: "fanout", asks: (value) => value === "fanout", remedy: "name the connector of one destination" },
  enabled("encryption", "enabled"),
  {
    path: ["encryption", "rules"],
    asked: "a rule that is enabled",
    asks: (value) => Array.isArray(value) && value.some((rule: { enabled?: unknown }) => rule.enabled === true),
    remedy: "remove the rules that are enabled",
  },
  enabled("message_authenticity", "enabled"),
  enabled("custody", "enabled"),
  enabled("pre_sink_policy", "enabled"),
];

function valueAt(root: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (value, key) => (typeof value === "object" && value !== null ? (value as Record<string, unknown>)[key] : undefined),
    root,
  );
}

/** A fault for each feature that the configuration asks for and this release does not have. */
export function laterFeatureFaults(sections: Partial<ConfigurationSections>): ConfigurationFault[] {
  return laterFeatures
    .filter(({ path, asks }) => asks(valueAt(sections, path)))
    .map(({ path, remedy }) => fault(pathText(path), "this feature is not part of this release", remedy, "not_supported"));
}
