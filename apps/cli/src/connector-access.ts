import path from "node:path";
import type { Connector } from "@sinks/core";
import { type Configuration, discoverConnectors, loadConfiguration, loadConnector, type OfferedConnector } from "@sinks/core/runtime";
import { connectorSearch } from "./connector-search.js";
import type { Host } from "./host.js";
import { NotFoundError } from "./not-found-error.js";
import { UsageError } from "./usage-error.js";

type Plugins = Configuration["plugins"];

/** A connector to be described. */
export interface ConnectorChoice {
  readonly name: string;
  readonly project: string | undefined;
  /** Configuration whose `plugins` say which packages of third parties may be imported. */
  readonly config: string | undefined;
}

/** Without a configuration no package of a third party is imported (FW-REG-04). */
const closed: Plugins = { enabled: false, allowed_sinks: [], require_production_ready: true };

/** The offer of a connector's name; throws `NotFoundError` when neither we nor the project have one. */
export async function findOffer(host: Host, { name, project }: ConnectorChoice): Promise<OfferedConnector> {
  const { connectors } = await discoverConnectors(connectorSearch(host, project));
  const offer = connectors.find((candidate) => candidate.name === name);
  if (offer !== undefined) return offer;
  throw new NotFoundError(`no connector has the name "${name}"; \`sinks connectors list\` shows those that can be used`);
}

/** Why the package of a built-in connector is not there, and what to do. */
function absence({ planned, packageName }: OfferedConnector): string {
  return planned
    ? "is planned and not part of this release; `sinks connectors list` shows those that can be used"
    : `is not installed; add its package: npm install ${packageName}`;
}

/** Imports a connector by name, as a run with the named configuration would. */
export async function importConnector(host: Host, choice: ConnectorChoice): Promise<Connector> {
  const offer = await findOffer(host, choice);
  // Said here: no key of a configuration is at fault when none is involved.
  if (offer.manifest === null) throw new UsageError(`the connector ${offer.name} ${absence(offer)}`);
  return loadConnector(choice.name, await pluginsOf(host, choice.config), connectorSearch(host, choice.project));
}

/** What the named configuration allows of third parties; nothing when none is named. */
export async function pluginsOf(host: Host, config: string | undefined): Promise<Plugins> {
  if (config === undefined) return closed;
  const file = path.resolve(host.workingDirectory, config);
  return (await loadConfiguration({ file, environment: host.environment })).configuration.plugins;
}

/** True when a connector may be imported: a built-in one that is installed, or one that the configuration allows. */
export function mayImport(offer: OfferedConnector, plugins: Plugins): boolean {
  if (offer.manifest === null) return false;
  return offer.builtIn || (plugins.enabled && plugins.allowed_sinks.includes(offer.name));
}
