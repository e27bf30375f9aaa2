import path from "node:path";
import { isPlainRecord } from "../config/plain-record.js";
import type { PackageManifest } from "./package-manifest.js";

const conditions = new Set(["node", "import", "module-sync", "default"]);

function target(entry: unknown): string | null {
  if (typeof entry === "string") return entry;
  if (Array.isArray(entry)) return entry.map(target).find((found) => found !== null) ?? null;
  if (!isPlainRecord(entry)) return null;
  for (const [condition, value] of Object.entries(entry)) {
    const found = conditions.has(condition) ? target(value) : null;
    if (found !== null) return found;
  }
  return null;
}

function entryOf(manifest: PackageManifest, subpath: string): string | null {
  const { exports } = manifest;
  if (exports === undefined || exports === null) return subpath === "." ? (manifest.main ?? "./index.js") : null;
  const hasSubpaths = isPlainRecord(exports) && Object.keys(exports).some((key) => key.startsWith("."));
  if (!hasSubpaths) return subpath === "." ? target(exports) : null;
  return Object.hasOwn(exports, subpath) ? target(exports[subpath]) : null;
}

/**
 * File of the module that offers a connector: the subpath of the package's `exports` that it names, or, when the package
 * exports no such subpath, its main module. Null when neither leads to a file inside the package.
 */
export function moduleFile(manifest: PackageManifest, subpath: string): string | null {
  const entry = entryOf(manifest, subpath) ?? entryOf(manifest, ".");
  if (entry === null) return null;
  const file = path.resolve(manifest.folder, entry);
  return file.startsWith(manifest.folder + path.sep) ? file : null;
}
