import { runCommand } from "./run-command.js";

/** Who a server runs as. */
export interface ServerAccount {
  /** Front of the command line; empty where the server runs as we do. */
  readonly runAs: readonly string[];
  /** `user:group` that must own its files, as `chown` takes it; null where they stay ours. */
  readonly owner: string | null;
}

/**
 * The account for a server that refuses to run as root: ours when we are not root, else the first of `names` that the
 * machine knows and that may read the binary, else a user namespace in which our files belong to `nobody`.
 */
export async function serverAccount(binary: string, names: readonly string[]): Promise<ServerAccount> {
  if (process.getuid?.() !== 0) return { runAs: [], owner: null };
  for (const name of names) {
    const user = await id("-u", name);
    const group = await id("-g", name);
    if (user === null || group === null) continue;
    // Exec in place, so that the process id is the server's; `runuser` would stay in between.
    const runAs = ["setpriv", `--reuid=${user}`, `--regid=${group}`, "--clear-groups"];
    if (await runs(runAs, binary)) return { runAs, owner: `${user}:${group}` };
  }
  const runAs = ["unshare", "--user", "--map-user=65534", "--map-group=65534"];
  if (await runs(runAs, binary)) return { runAs, owner: null };
  throw new Error(`${binary} refuses to run as root, and none of ${names.join(", ")} may run it`);
}

async function id(what: "-u" | "-g", name: string): Promise<string | null> {
  const { succeeded, output } = await runCommand("id", [what, name], { timeoutMs: 5_000 });
  return succeeded ? output.trim() : null;
}

async function runs([command = "", ...args]: readonly string[], binary: string): Promise<boolean> {
  return (await runCommand(command, [...args, binary, "--version"], { timeoutMs: 10_000, directory: "/" })).succeeded;
}
