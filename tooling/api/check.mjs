/** Compares the public surface of every published package with its report under `docs/reference/api`; `--write` renews the reports. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { workspaces } from "../workspaces.mjs";
import { report, surface } from "./surface.mjs";

const root = resolve(fileURLToPath(import.meta.url), "../../..");
const folder = join(root, "docs/reference/api");
const write = process.argv.includes("--write");

function doorsOf(directory, manifest) {
  const doors = Object.entries(manifest.exports ?? {}).filter(([, door]) => typeof door === "object" && "types" in door);
  return Object.fromEntries(doors.map(([name, door]) => [name, join(directory, door.types)]));
}

let stale = 0;
for (const workspace of workspaces(root)) {
  const directory = join(root, workspace);
  const manifest = JSON.parse(readFileSync(join(directory, "package.json"), "utf8"));
  const doors = doorsOf(directory, manifest);
  if (manifest.private === true || Object.keys(doors).length === 0) continue;
  const file = join(folder, `${manifest.name.split("/").at(-1)}.md`);
  const found = report(manifest.name, surface(doors));
  if (existsSync(file) && readFileSync(file, "utf8") === found) continue;
  if (write) {
    mkdirSync(folder, { recursive: true });
    writeFileSync(file, found);
  } else {
    stale += 1;
    process.stdout.write(
      `The public surface of ${manifest.name} changed; \`npm run fix\` renews its report, and a changeset tells its users.\n`,
    );
  }
}
process.exitCode = stale === 0 ? 0 : 1;
