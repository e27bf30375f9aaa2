import { pathToFileURL } from "node:url";
import { type ConfigurationFault, fault, faultsError } from "../config/faults.js";
import { nearestName } from "../config/nearest-name.js";
import type { Configuration } from "../config/schema.js";
import { type Connector, isConnector } from "../connector/define-connector.js";
import { ConfigurationError } from "../error/errors.js";
import { builtInConnectors } from "./built-in-connectors.js";
import { type ConnectorSearch, findBuiltIn, findProject, findThirdParty, type OfferedConnector } from "./discover.js";
import { moduleFile } from "./module-file.js";
import { checkConnector } from "./registry.js";

type Plugins = Configuration["plugins"];

function refuse(found: ConfigurationFault): never {
  throw faultsError([found]);
}

async function offerOf(name: string, plugins: Plugins, search: ConnectorSearch): Promise<OfferedConnector> {
  const project = await findProject(search);
  if (builtInConnectors.has(name)) {
    const offer = await findBuiltIn(name, search, project);
    if (offer.planned) {
      refuse(
        fault(
          "sink.type",
          `the connector ${name} is planned and not part of this release`,
          `it will be ${offer.packageName}; \`sinks connectors list\` shows those that can be used`,
          "not_supported",
        ),
      );
    }
    if (offer.manifest === null) {
      refuse(
        fault(
          "sink.type",
          `the connector ${name} is not installed`,
          `add its package: npm install ${offer.packageName}`,
          "connector_not_installed",
        ),
      );
    }
    return offer;
  }
  const { connectors } = await findThirdParty(project);
  const offers = connectors.filter((offer) => offer.name === name);
  const [offer] = offers;
  if (offer === undefined) refuse(unknownConnector(name, plugins, connectors));
  if (offers.length > 1) {
    refuse(
      fault(
        "sink.type",
        `the packages ${offers.map(({ packageName }) => packageName).join(" and ")} both offer this connector`,
        "remove all but one of them from the project",
      ),
    );
  }
  if (!plugins.enabled)
    refuse(
      fault(
        "plugins.enabled",
        `the connector is of a third party, package ${offer.packageName}`,
        "set plugins.enabled to true and name the connector in plugins.allowed_sinks",
      ),
    );
  if (!plugins.allowed_sinks.includes(name))
    refuse(fault("plugins.allowed_sinks", `does not allow the connector of package ${offer.packageName}`, "add the connector's name"));
  return offer;
}

function unknownConnector(name: string, plugins: Plugins, known: readonly OfferedConnector[]): ConfigurationFault {
  if (plugins.enabled && plugins.allowed_sinks.includes(name)) {
    return fault(
      "sink.type",
      "no direct dependency of the project offers this connector",
      "add its package to the project",
      "connector_not_installed",
    );
  }
  const near = nearestName(name, [...builtInConnectors.keys(), ...known.map((offer) => offer.name)]);
  return fault(
    "sink.type",
    "no connector has this name",
    near === null ? "`sinks connectors list` shows those that can be used" : `did you mean "${near}"?`,
  );
}

async function importOffer({ name, packageName, manifest }: OfferedConnector): Promise<Connector> {
  const invalid = (message: string, cause?: unknown) =>
    new ConfigurationError(`package ${packageName}: ${message}`, { code: "connector_invalid", cause });
  const subpath = manifest?.connectors?.get(name);
  if (manifest === null || subpath === undefined)
    throw invalid(`its package.json does not offer the connector ${name}; install a version that does`);
  const file = moduleFile(manifest, subpath);
  if (file === null) throw invalid(`the export ${subpath} of connector ${name} leads to no file; install another version`);
  let loaded: Readonly<Record<string, unknown>>;
  try {
    loaded = (await import(pathToFileURL(file).href)) as Readonly<Record<string, unknown>>;
  } catch (cause) {
    const code = (cause as { code?: unknown } | null)?.code;
    throw invalid(`cannot be imported${typeof code === "string" ? ` (${code})` : ""}; install it again, or another version`, cause);
  }
  const found = [...new Set(Object.values(loaded))].filter((value) => isConnector(value) && value.name === name);
  if (found.length !== 1)
    throw invalid(`its module must export exactly one connector named ${name}, but exports ${found.length === 0 ? "none" : "several"}`);
  const [connector] = found;
  checkConnector(connector, `package ${packageName}`);
  return connector;
}

/**
 * Imports the connector that a configuration names, and only that one (FW-REG-03, FW-REG-04). A built-in one comes from
 * the project or from beside the command; any other one must be offered by a direct dependency of the project and be
 * allowed by `plugins` before its package is imported. Each refusal is a `ConfigurationError` of one line.
 */
export async function loadConnector(name: string, plugins: Plugins, search: ConnectorSearch): Promise<Connector> {
  const offer = await offerOf(name, plugins, search);
  const connector = await importOffer(offer);
  if (!offer.builtIn) checkProductionReady(connector, plugins);
  return connector;
}

/** Throws when `plugins.require_production_ready` asks for more than a connector of a third party declares. */
function checkProductionReady(connector: Connector, plugins: Plugins): void {
  if (!plugins.require_production_ready || connector.productionReady) return;
  refuse(
    fault(
      "plugins.require_production_ready",
      "the connector is not declared ready for production",
      "use another one, or set plugins.require_production_ready to false",
    ),
  );
}
