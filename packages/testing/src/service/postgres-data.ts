import { createHash } from "node:crypto";
import { access } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { ServerBinary } from "./owned-server.js";
import { type Environment, runCommand } from "./run-command.js";
import type { ServerAccount } from "./server-account.js";
import { cachedFolder } from "./service-cache.js";
import { makeTemporaryFolder } from "./temporary-folder.js";

const initialize = ["-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync", "--no-instructions"];

/**
 * Puts an empty data folder of the found server at `target`, owned by us. `initdb` takes a second, a copy a fifth of it:
 * one is kept in the cache for each build of the server, and made there when it is missing.
 */
export async function copyPostgresData(
  target: string,
  found: ServerBinary,
  account: ServerAccount,
  environment: Environment,
): Promise<void> {
  const build = createHash("sha256")
    .update([found.binary, found.version, ...initialize].join("\0"))
    .digest("hex")
    .slice(0, 12);
  const template = cachedFolder(`postgres-data-${found.version}-${build}`, environment);
  const isComplete = () =>
    access(join(template.path, "PG_VERSION")).then(
      () => true,
      () => false,
    );
  if (!(await isComplete())) {
    await template.complete(async (incoming) => {
      // Another account cannot go into the cache below our home.
      await using temporary = await makeTemporaryFolder("postgres-initdb");
      if (account.owner !== null) await run("chown", [account.owner, temporary.path]);
      const [command = "", ...args] = [
        ...account.runAs,
        join(dirname(found.binary), "initdb"),
        "-D",
        join(temporary.path, "data"),
        ...initialize,
      ];
      await run(command, args);
      await run("cp", ["-Rp", join(temporary.path, "data"), join(incoming, "data")]);
      return join(incoming, "data");
    }, isComplete);
  }
  await run("cp", ["-Rp", template.path, target]);
}

/** Runs a command that must succeed. */
export async function run(command: string, args: readonly string[]): Promise<void> {
  const { succeeded, reason } = await runCommand(command, args, { timeoutMs: 60_000, directory: "/" });
  if (!succeeded) throw new Error(reason);
}
