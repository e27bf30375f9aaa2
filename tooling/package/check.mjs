/** Packs the package of the current folder as it would be published and lets publint and attw judge the tarball. */
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { manifestFaults } from "./manifest-faults.mjs";

const manifest = JSON.parse(readFileSync("package.json", "utf8"));
const scratch = mkdtempSync(join(tmpdir(), "sinks-package-"));

function run(command, args) {
  const { status, stdout, stderr } = spawnSync(command, args, { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
  if (status !== 0) process.stdout.write(`${command} ${args.join(" ")}\n${stdout ?? ""}${stderr ?? ""}`);
  return status === 0;
}

try {
  const faults = manifestFaults(manifest, (file) => existsSync(file));
  for (const fault of faults) process.stdout.write(`${manifest.name}: ${fault}\n`);
  let good = run("pnpm", ["pack", "--pack-destination", scratch]) && faults.length === 0;
  const tarball = readdirSync(scratch).find((name) => name.endsWith(".tgz"));
  if (tarball !== undefined) {
    const path = join(scratch, tarball);
    good = run("publint", ["run", path, "--strict", "--pack", "false"]) && good;
    // A package whose only door is its manifest offers nothing to import, so there are no types to judge.
    if (Object.keys(manifest.exports).some((door) => door !== "./package.json")) {
      good = run("attw", [path, "--profile", "esm-only", "--no-emoji"]) && good;
    }
  }
  process.exitCode = good ? 0 : 1;
} finally {
  rmSync(scratch, { recursive: true, force: true });
}
