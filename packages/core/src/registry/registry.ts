import { nearestName } from "../config/nearest-name.js";
import { type Connector, isConnector } from "../connector/define-connector.js";
import { ConfigurationError } from "../error/errors.js";
import { builtInConnectors } from "./built-in-connectors.js";

/** The explicit set of connectors that a program composes. */
export interface Registry {
  /** Names in their order of registration. */
  readonly names: readonly string[];
  /** The connector of a name; throws `ConfigurationError` with the nearest known name when there is none. */
  get(name: string): Connector;
  has(name: string): boolean;
}

function refuse(message: string): never {
  throw new ConfigurationError(message, { code: "connector_invalid" });
}

/** Throws when a value is not a descriptor that this release can use, or takes a built-in name (FW-REG-03). */
export function checkConnector(value: unknown, origin: string): asserts value is Connector {
  if (!isConnector(value)) refuse(`${origin}: not a connector; make it with defineConnector`);
  if (value.apiVersion !== "1") refuse(`${origin}: the connector is for another API version; this release takes version 1`);
  if (value.productionReady && value.certification.length === 0) refuse(`${origin}: productionReady needs certification evidence`);
  if (builtInConnectors.has(value.name) && value.status === "third_party")
    refuse(`${origin}: the name ${value.name} belongs to ${builtInConnectors.get(value.name)}`);
}

/** Composes connectors into a registry; duplicate names, built-in names taken by others and non-descriptors are refused. */
export function createRegistry(connectors: readonly Connector[]): Registry {
  const byName = new Map<string, Connector>();
  for (const [index, connector] of connectors.entries()) {
    checkConnector(connector, `connector ${index + 1} of the registry`);
    if (byName.has(connector.name)) refuse(`the registry has two connectors named ${connector.name}`);
    byName.set(connector.name, connector);
  }
  const names = Object.freeze([...byName.keys()]);
  return Object.freeze({
    names,
    has: (name: string) => byName.has(name),
    get: (name: string) => {
      const connector = byName.get(name);
      if (connector !== undefined) return connector;
      const near = nearestName(name, names);
      throw new ConfigurationError(
        `sink.type: the registry has no connector of this name; ${near === null ? "add it to createRegistry" : `did you mean "${near}"?`}`,
      );
    },
  });
}
