import { spawn } from "node:child_process";
import { isMainThread } from "node:worker_threads";
import { runCommand } from "./run-command.js";

/** A command line whose process ends with ours. */
export interface OwnedCommand {
  readonly command: string;
  readonly args: readonly string[];
  /** Call with the process id once spawned; call the answer once that process has ended. */
  watch(pid: number): () => void;
}

/**
 * Ties a process to this one, also against SIGKILL of this one. On Linux the kernel does it (`setpriv --pdeathsig`), with
 * SIGKILL, since a frozen server would not take SIGTERM. The kernel follows the spawning thread, so a worker thread and
 * other systems use a shell that waits for its input, which we hold open, to end.
 */
export async function endWithOwner(command: string, args: readonly string[]): Promise<OwnedCommand> {
  if (isMainThread && (await kernelCanTie())) {
    return { command: "setpriv", args: ["--pdeathsig", "SIGKILL", command, ...args], watch: () => () => undefined };
  }
  return { command, args, watch };
}

async function kernelCanTie(): Promise<boolean> {
  if (process.platform !== "linux") return false;
  return (await runCommand("setpriv", ["--pdeathsig", "SIGKILL", "true"], { timeoutMs: 5_000 })).succeeded;
}

function watch(pid: number): () => void {
  // Own process group: an interrupt from the terminal must not end the watcher before it has done its work.
  const watcher = spawn("sh", ["-c", `read -r line; kill -KILL ${pid} 2>/dev/null`], {
    stdio: ["pipe", "ignore", "ignore"],
    detached: true,
  });
  watcher.once("error", () => undefined);
  watcher.stdin?.once("error", () => undefined);
  watcher.unref();
  (watcher.stdin as (NodeJS.WritableStream & { unref?: () => void }) | null)?.unref?.();
  return () => void watcher.kill("SIGKILL");
}
