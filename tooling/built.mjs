import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

/** Root folder of this checkout. */
export const root = resolve(fileURLToPath(import.meta.url), "../..");

/** Imports a built file of a workspace, or says how to build it. */
export function importBuilt(path) {
  const file = join(root, path);
  if (!existsSync(file)) throw new Error(`${path} is not built: run \`npm run build\``);
  return import(pathToFileURL(file).href);
}

/** Imports a dependency as a workspace sees it; tooling itself depends on no package of this repository. */
export function importFrom(workspace, name) {
  return import(pathToFileURL(createRequire(join(root, workspace, "package.json")).resolve(name)).href);
}
