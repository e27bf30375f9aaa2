/** Prints every breach of the layout rules, one a line, and exits with 1 when there is one. */
import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { arrows } from "./arrows.mjs";
import { connectorFiles } from "./connector-files.mjs";
import { coreMap } from "./core-map.mjs";
import { documentLinks } from "./document-links.mjs";
import { fileNames } from "./file-names.mjs";
import { machinePaths } from "./machine-paths.mjs";
import { readProject } from "./project.mjs";
import { settlement } from "./settlement.mjs";
import { sourceStyle } from "./source-style.mjs";

const rules = { arrows, connectorFiles, coreMap, documentLinks, fileNames, machinePaths, settlement, sourceStyle };
const project = readProject(resolve(fileURLToPath(import.meta.url), "../../.."));

let count = 0;
for (const [name, rule] of Object.entries(rules)) {
  for (const { path, line, message } of rule(project)) {
    count += 1;
    process.stdout.write(`${path}:${line} ${message} (${name})\n`);
  }
}
process.stdout.write(count === 0 ? `The layout of ${project.files.length} files is as designed.\n` : `${count} breaches of the layout.\n`);
process.exitCode = count === 0 ? 0 : 1;
