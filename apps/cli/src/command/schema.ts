import type { Connector } from "@sinks/core";
import { configurationJsonSchema, connectorJsonSchema, discoverConnectors, loadConnector } from "@sinks/core/runtime";
import { importConnector, mayImport, pluginsOf } from "../connector-access.js";
import { connectorSearch } from "../connector-search.js";
import { exitCodes } from "../exit-code.js";
import type { Host } from "../host.js";
import { printResult } from "../output/result.js";

/** What `sinks schema` was asked for. */
export interface SchemaRequest {
  /** A connector whose options are wanted; the whole configuration otherwise. */
  readonly name: string | undefined;
  readonly project: string | undefined;
  readonly config: string | undefined;
}

/** Prints the JSON Schema of a configuration with the connectors that can be imported, or of one connector's options. */
export async function schema(host: Host, { name, project, config }: SchemaRequest): Promise<number> {
  const document =
    name === undefined
      ? configurationJsonSchema(await importable(host, project, config))
      : connectorJsonSchema(await importConnector(host, { name, project, config }));
  printResult(host, "json", document, () => "");
  return exitCodes.good;
}

async function importable(host: Host, project: string | undefined, config: string | undefined): Promise<readonly Connector[]> {
  const search = connectorSearch(host, project);
  const plugins = await pluginsOf(host, config);
  const { connectors } = await discoverConnectors(search);
  const offers = connectors.filter((offer) => mayImport(offer, plugins));
  return Promise.all(offers.map((offer) => loadConnector(offer.name, plugins, search)));
}
