/**
 * Packs the command with its connectors and prints how a project installs them. By pnpm: it writes the versions of the workspace
 * into the manifests, which `npm pack` leaves as they are.
 */
import { spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const root = resolve(fileURLToPath(import.meta.url), "../../..");
const folder = join(root, ".cache", "packages");
const packages = ["packages/core", "packages/file", "apps/cli"];

rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });
for (const path of packages) {
  const { status, stdout, stderr } = spawnSync("pnpm", ["pack", "--pack-destination", folder], { cwd: join(root, path), encoding: "utf8" });
  if (status === 0) continue;
  process.stderr.write(`${path} cannot be packed\n${stdout ?? ""}${stderr ?? ""}`);
  process.exit(1);
}
process.stdout.write(`Packed into ${folder}:\n`);
for (const name of readdirSync(folder)) process.stdout.write(`  ${name}\n`);
process.stdout.write(`In a project: npm install "${folder}"/*.tgz\n`);
