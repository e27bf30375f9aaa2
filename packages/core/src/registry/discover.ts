import path from "node:path";
import { fileURLToPath } from "node:url";
import { fault, faultsError } from "../config/faults.js";
import { builtInConnectors, plannedConnectors } from "./built-in-connectors.js";
import { findPackage, foldersUpward, type PackageManifest, readManifest } from "./package-manifest.js";

/** Where connectors are looked for. */
export interface ConnectorSearch {
  /** Folder from which the nearest `package.json` upwards is the project. */
  readonly workingDirectory: string;
  /** Folder of the project, in place of the nearest one. */
  readonly project?: string | undefined;
  /** URL or path of the command's own module: built-in connectors are looked for beside it too. */
  readonly command: string;
}

/** A connector that a package offers; nothing of the package has been run. */
export interface OfferedConnector {
  readonly name: string;
  readonly builtIn: boolean;
  readonly packageName: string;
  /** The package; null for a built-in connector that is not installed. */
  readonly manifest: PackageManifest | null;
  /** True for a built-in connector without a release: it is neither installed nor to be had yet. */
  readonly planned: boolean;
}

/** What discovery found, and a line for each offer that is refused. */
export interface Discovery {
  readonly connectors: readonly OfferedConnector[];
  readonly notices: readonly string[];
}

/** The project of a search; null when no folder upwards has a `package.json`. */
export async function findProject(search: ConnectorSearch): Promise<PackageManifest | null> {
  if (search.project !== undefined) {
    const manifest = await readManifest(path.resolve(search.workingDirectory, search.project));
    if (manifest === null)
      throw faultsError([fault("--project", "this folder has no package.json that can be read", "name the folder of a project")]);
    return manifest;
  }
  for (const folder of foldersUpward(search.workingDirectory)) {
    const manifest = await readManifest(folder);
    if (manifest !== null) return manifest;
  }
  return null;
}

/** The package of a built-in connector: from the project, then beside the command. */
export async function findBuiltIn(name: string, search: ConnectorSearch, project: PackageManifest | null): Promise<OfferedConnector> {
  const packageName = builtInConnectors.get(name) as string;
  const command = search.command.startsWith("file:") ? fileURLToPath(search.command) : search.command;
  const fromProject = project === null ? null : await findPackage(packageName, project.folder);
  const manifest = fromProject ?? (await findPackage(packageName, path.dirname(command)));
  return { name, builtIn: true, packageName, manifest, planned: manifest === null && plannedConnectors.has(name) };
}

/** Every connector that a direct dependency of the project offers, claims of built-in names left out and told. */
export async function findThirdParty(project: PackageManifest | null): Promise<Discovery> {
  const own = new Set(builtInConnectors.values());
  const connectors: OfferedConnector[] = [];
  const notices: string[] = [];
  for (const packageName of project?.dependencies ?? []) {
    if (own.has(packageName)) continue;
    const manifest = await findPackage(packageName, (project as PackageManifest).folder);
    for (const name of manifest?.connectors?.keys() ?? []) {
      if (builtInConnectors.has(name))
        notices.push(
          `${packageName}: offers a connector named ${name}, which belongs to ${builtInConnectors.get(name)}; the offer is refused`,
        );
      else connectors.push({ name, builtIn: false, packageName, manifest, planned: false });
    }
  }
  for (const [name, offers] of groupByName(connectors)) {
    if (offers.length > 1)
      notices.push(`${offers.map((offer) => offer.packageName).join(" and ")}: both offer a connector named ${name}; remove all but one`);
  }
  return { connectors, notices };
}

function groupByName(connectors: readonly OfferedConnector[]): Map<string, OfferedConnector[]> {
  const groups = new Map<string, OfferedConnector[]>();
  for (const connector of connectors) groups.set(connector.name, [...(groups.get(connector.name) ?? []), connector]);
  return groups;
}

/** Finds built-in and third-party connectors (FW-REG-04): it reads `package.json` files and imports nothing. */
export async function discoverConnectors(search: ConnectorSearch): Promise<Discovery> {
  const project = await findProject(search);
  const builtIn = await Promise.all([...builtInConnectors.keys()].map((name) => findBuiltIn(name, search, project)));
  const others = await findThirdParty(project);
  return { connectors: [...builtIn, ...others.connectors], notices: others.notices };
}
