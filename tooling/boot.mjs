/**
 * Runs a task of this repository on a machine that has only Node, npm and git: installs the pinned pnpm's frozen lockfile when the
 * manifests changed since the last install, then runs the task's commands. Uses nothing but Node itself.
 */
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { commandsOf } from "./tasks.mjs";
import { workspaces } from "./workspaces.mjs";

const root = resolve(fileURLToPath(import.meta.url), "../..");

/** Paths of every manifest that decides what is installed, root first. */
export function manifests(directory) {
  const files = ["", ...workspaces(directory)].map((folder) => join(folder, "package.json"));
  return ["pnpm-lock.yaml", "pnpm-workspace.yaml", ...files].filter((file) => existsSync(join(directory, file)));
}

/** Digest of the manifests' names and bytes: the same digest means the same installation. */
export function stampOf(directory) {
  const hash = createHash("sha256");
  for (const file of manifests(directory))
    hash
      .update(file)
      .update("\0")
      .update(readFileSync(join(directory, file)))
      .update("\0");
  return hash.digest("hex");
}

const keptNpmVariables = new Set(["npm_config_registry", "npm_config_cache", "npm_config_userconfig", "npm_config_cafile"]);

/** The environment without what an outer npm or pnpm set for its own script, which would steer the inner one. */
export function withoutNpmVariables(environment) {
  return Object.fromEntries(Object.entries(environment).filter(([name]) => !name.startsWith("npm_") || keptNpmVariables.has(name)));
}

/** The environment of a task: local commands first, nothing that reports to anyone. */
export function taskEnvironment(environment, directory) {
  const binaries = [join(directory, "node_modules", ".bin"), environment.PATH].filter(Boolean).join(delimiter);
  return {
    ...withoutNpmVariables(environment),
    PATH: binaries,
    DO_NOT_TRACK: "1",
    TURBO_TELEMETRY_DISABLED: "1",
    TURBO_NO_UPDATE_NOTIFIER: "1",
  };
}

/** True when this Node satisfies a minimum given as `major.minor`. */
export function nodeIsRecent(version, minimum) {
  const [major, minor] = version.split(".").map(Number);
  const [wantedMajor, wantedMinor] = minimum.split(".").map(Number);
  return major > wantedMajor || (major === wantedMajor && minor >= wantedMinor);
}

let running = null;

function run([command, ...args], environment, directory = root) {
  return new Promise((done) => {
    running = spawn(command, args, { cwd: directory, env: environment, stdio: "inherit", shell: process.platform === "win32" });
    running.once("error", (error) => {
      process.stderr.write(`cannot run ${command}: ${error.message}\n`);
      done(1);
    });
    running.once("exit", (code, signal) => done(code ?? (signal === "SIGINT" ? 130 : 1)));
  });
}

async function install() {
  const stampFile = join(root, "node_modules", ".boot-stamp");
  const stamp = stampOf(root);
  if (existsSync(stampFile) && readFileSync(stampFile, "utf8") === stamp) return 0;
  const { packageManager } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  process.stdout.write(`Installing with ${packageManager} …\n`);
  // From elsewhere: inside the checkout npx would start the pnpm that this very installation may replace.
  const command = ["npx", "-y", packageManager, "--dir", root, "install", "--frozen-lockfile"];
  const code = await run(command, { ...withoutNpmVariables(process.env), CI: "1" }, tmpdir());
  if (code === 0) writeFileSync(stampFile, stamp);
  else process.stderr.write("The installation failed; if package.json was edited, run `pnpm install` once to renew the lockfile.\n");
  return code;
}

async function main([task, ...args]) {
  const minimum = "20.19";
  if (!nodeIsRecent(process.versions.node, minimum)) {
    process.stderr.write(`Node ${minimum} or newer is needed; this is ${process.versions.node}.\n`);
    return 1;
  }
  const commands = commandsOf(task, args);
  if (commands === null) {
    process.stderr.write(`There is no task "${task}".\n`);
    return 2;
  }
  let code = await install();
  const environment = taskEnvironment(process.env, root);
  for (const command of commands) {
    if (code !== 0) break;
    code = await run(command, environment);
  }
  return code;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  // A terminal's Ctrl-C reaches the child by itself; the child decides, and its exit code is ours. SIGTERM reaches only us.
  process.on("SIGINT", () => undefined);
  process.on("SIGTERM", () => running?.kill("SIGTERM"));
  process.exitCode = await main(process.argv.slice(2));
}
