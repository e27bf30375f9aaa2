/** Writes the generated pages of docs/reference from the built schemas; with --check it only says which of them are stale. */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { importBuilt, root } from "../built.mjs";
import { staleFiles } from "./stale-files.mjs";

const { isConnector } = await importBuilt("packages/core/dist/index.js");
const { builtInConnectors, configurationJsonSchema, configurationReference, errorReference } =
  await importBuilt("packages/core/dist/runtime.js");

/** The connectors of this repository, in the order of their names in core. */
async function ownConnectors() {
  const folders = readdirSync(join(root, "packages")).filter((folder) => existsSync(join(root, "packages", folder, "package.json")));
  const offering = folders.filter(
    (folder) => JSON.parse(readFileSync(join(root, "packages", folder, "package.json"), "utf8")).sinks?.connectors,
  );
  const modules = await Promise.all(offering.map((folder) => importBuilt(`packages/${folder}/dist/index.js`)));
  const order = [...builtInConnectors.keys()];
  const found = modules.flatMap((module) => Object.values(module).filter(isConnector));
  return found.sort((left, right) => order.indexOf(left.name) - order.indexOf(right.name));
}

const connectors = await ownConnectors();
const pages = new Map([
  ["docs/reference/configuration.md", configurationReference(connectors)],
  ["docs/reference/errors.md", errorReference()],
  ["docs/reference/sinks.schema.json", `${JSON.stringify(configurationJsonSchema(connectors), null, 2)}\n`],
]);

if (process.argv.includes("--check")) {
  const stale = staleFiles(root, pages);
  for (const name of stale) process.stdout.write(`${name} is not what the schemas say: run \`node tooling/reference/generate.mjs\`\n`);
  process.stdout.write(`${pages.size} generated pages, ${stale.length} stale.\n`);
  process.exitCode = stale.length === 0 ? 0 : 1;
} else {
  for (const [name, text] of pages) {
    mkdirSync(dirname(join(root, name)), { recursive: true });
    writeFileSync(join(root, name), text);
  }
}
