import { discoverConnectors, type OfferedConnector } from "@sinks/core/runtime";
import { connectorSearch } from "../connector-search.js";
import { exitCodes } from "../exit-code.js";
import type { Host } from "../host.js";
import { warn } from "../load.js";
import { type Format, printResult } from "../output/result.js";
import { styleOf } from "../output/style.js";
import { table } from "../output/table.js";

/** What `sinks connectors list` was asked for. */
export interface ConnectorsListRequest {
  readonly project: string | undefined;
  readonly format: Format;
}

/** A connector as the list shows it; nothing of its package has been run. */
export interface ConnectorLine {
  readonly name: string;
  readonly package: string;
  readonly version: string | null;
  readonly installed: boolean;
  readonly built_in: boolean;
  /** Part of a later release: there is no package to install yet. */
  readonly planned: boolean;
}

/** The document of one offered connector. */
export function connectorLine({ name, packageName, manifest, builtIn, planned }: OfferedConnector): ConnectorLine {
  return { name, package: packageName, version: manifest?.version ?? null, installed: manifest !== null, built_in: builtIn, planned };
}

/** Lists built-in connectors, installed or not, and those that direct dependencies of the project offer (FW-REG-04, FW-REG-06). */
export async function connectorsList(host: Host, { project, format }: ConnectorsListRequest): Promise<number> {
  const { connectors, notices } = await discoverConnectors(connectorSearch(host, project));
  warn(host, notices);
  const lines = connectors.map(connectorLine);
  printResult(host, format, lines, () => text(lines, host));
  return exitCodes.good;
}

function versionText({ installed, planned, version, package: name }: ConnectorLine): string {
  if (installed) return version ?? "";
  return planned ? "planned, not part of this release" : `not installed: npm install ${name}`;
}

function text(lines: readonly ConnectorLine[], host: Host): string {
  const { bold } = styleOf(host.stdout, host.environment);
  const rows = lines.map((line) => [line.name, line.built_in ? "built in" : "third party", line.package, versionText(line)]);
  return table(["NAME", "KIND", "PACKAGE", "VERSION"], rows, bold);
}
