import { open } from "node:fs/promises";
import path from "node:path";
import { isPlainRecord } from "../config/plain-record.js";

/** What discovery reads of a package: JSON only, nothing is run. */
export interface PackageManifest {
  readonly folder: string;
  readonly name: string;
  readonly version: string;
  readonly exports: unknown;
  readonly main: string | null;
  /** Connector names with their exports; null when the package offers none, or not in the form that is due. */
  readonly connectors: ReadonlyMap<string, string> | null;
  /** Names of the direct dependencies. */
  readonly dependencies: readonly string[];
}

const largest = 4_194_304;
const dependencyFields = ["dependencies", "optionalDependencies", "devDependencies"];
const packageName = /^(?:@[a-z0-9~-][a-z0-9._~-]*\/)?[A-Za-z0-9~-][A-Za-z0-9._~-]*$/;

function offered(sinks: unknown): ReadonlyMap<string, string> | null {
  const connectors = isPlainRecord(sinks) ? sinks["connectors"] : undefined;
  if (!isPlainRecord(connectors)) return null;
  const entries = Object.entries(connectors);
  const isFit = ([name, target]: [string, unknown]) =>
    /^[a-z][a-z0-9_-]{0,63}$/.test(name) && typeof target === "string" && /^\.(\/[A-Za-z0-9._-]+)*$/.test(target) && !target.includes("..");
  return entries.every(isFit) ? new Map(entries as [string, string][]) : null;
}

async function readJson(file: string): Promise<unknown> {
  try {
    await using handle = await open(file, "r");
    const status = await handle.stat();
    if (!status.isFile() || status.size > largest) return null;
    return JSON.parse(await handle.readFile("utf8")) as unknown;
  } catch {
    // Absent, unreadable or no JSON: in each case there is no package to find here.
    return null;
  }
}

/** Reads the `package.json` of a folder; null when there is none that can be read. */
export async function readManifest(folder: string): Promise<PackageManifest | null> {
  const json = await readJson(path.join(folder, "package.json"));
  if (!isPlainRecord(json)) return null;
  const text = (key: string) => (typeof json[key] === "string" ? json[key] : null);
  const dependencies = dependencyFields.flatMap((field) => (isPlainRecord(json[field]) ? Object.keys(json[field]) : []));
  return {
    folder,
    name: text("name") ?? "",
    version: text("version") ?? "",
    exports: json["exports"],
    main: text("main"),
    connectors: offered(json["sinks"]),
    dependencies: [...new Set(dependencies)].filter((name) => packageName.test(name)).sort(),
  };
}

/** Folders from one up to the root. */
export function foldersUpward(start: string): readonly string[] {
  const folders = [path.resolve(start)];
  for (;;) {
    const last = folders[folders.length - 1] as string;
    const parent = path.dirname(last);
    if (parent === last) return folders;
    folders.push(parent);
  }
}

/** The manifest of a package as modules in a folder would see it: the nearest `node_modules` that has it. */
export async function findPackage(name: string, from: string): Promise<PackageManifest | null> {
  for (const folder of foldersUpward(from)) {
    const manifest = await readManifest(path.join(folder, "node_modules", name));
    if (manifest !== null) return manifest;
  }
  return null;
}
