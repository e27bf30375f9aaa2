import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { setTimeout as wait } from "node:timers/promises";
import { endWithOwner } from "./end-with-owner.js";
import { keepLog, readLog } from "./server-log.js";

/** What is started, and how one learns that it serves. */
export interface ServerSpawn {
  /** Name in errors and log files. */
  readonly name: string;
  /** The server's own binary: it must stay in the foreground. */
  readonly binary: string;
  readonly args: readonly string[];
  /** Receives stdout and stderr, appended over restarts. */
  readonly logFile: string;
  /** Answers true once a real call succeeds; a throw means "not yet". */
  readonly ready: () => Promise<boolean>;
  /** Limit for `ready`; 15 s by default. */
  readonly readyWithinMs?: number;
  /** Front of the command line that gives the process another account, see `serverAccount`. */
  readonly runAs?: readonly string[];
  /** Signal that ends it in order; SIGTERM by default. */
  readonly stopSignal?: NodeJS.Signals;
}

/** How a server process ended. */
export interface ServerExit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** A running server process. */
export interface ServerProcess {
  readonly pid: number;
  readonly exited: Promise<ServerExit>;
  isRunning(): boolean;
  signal(name: NodeJS.Signals): void;
  /** Asks with its signal for that, insists with SIGKILL after five seconds. */
  stop(): Promise<void>;
  /** SIGKILL, and waits for the end. */
  kill(): Promise<void>;
}

const graceMs = 5_000;

/**
 * Starts a server and resolves once it serves. Rejects with the end of its log when it exits first or is not ready in
 * time; the log is then kept. The process ends with the process that started it, however that one ends.
 */
export async function spawnServer(options: ServerSpawn): Promise<ServerProcess> {
  const log = openSync(options.logFile, "a", 0o600);
  const owner = await endWithOwner(options.binary, options.args);
  let child: ChildProcess;
  try {
    // The account comes first: the kernel forgets whom a process ends with when that process changes its user.
    const [command = owner.command, ...args] = [...(options.runAs ?? []), owner.command, ...owner.args];
    child = spawn(command, args, { stdio: ["ignore", log, log], cwd: "/" });
  } finally {
    closeSync(log);
  }
  let ended: ServerExit | null = null;
  const exited = new Promise<ServerExit>((resolve) => {
    const settle = (code: number | null, signal: NodeJS.Signals | null) => {
      ended = { code, signal };
      resolve(ended);
    };
    child.once("exit", settle);
    child.once("error", () => settle(null, null));
  });
  const release = child.pid === undefined ? () => undefined : owner.watch(child.pid);
  // Before the folder's own listener, so that nothing writes into a folder that is being removed.
  const killAtExit = () => void child.kill("SIGKILL");
  process.prependOnceListener("exit", killAtExit);
  void exited.then(() => {
    release();
    process.off("exit", killAtExit);
  });
  child.unref();

  const end = async (signal: NodeJS.Signals, graceful: number | null) => {
    if (ended !== null) return;
    child.ref();
    child.kill(signal);
    if (graceful !== null) {
      // A frozen process takes SIGTERM only when it runs again.
      child.kill("SIGCONT");
      const timer = setTimeout(() => child.kill("SIGKILL"), graceful);
      void exited.then(() => clearTimeout(timer));
    }
    await exited;
  };
  const server: ServerProcess = {
    pid: child.pid ?? -1,
    exited,
    isRunning: () => ended === null,
    signal: (name) => void child.kill(name),
    stop: () => end(options.stopSignal ?? "SIGTERM", graceMs),
    kill: () => end("SIGKILL", null),
  };
  await waitUntilReady(options, server, () => ended);
  return server;
}

async function waitUntilReady(options: ServerSpawn, server: ServerProcess, ended: () => ServerExit | null): Promise<void> {
  const limit = options.readyWithinMs ?? 15_000;
  const deadline = performance.now() + limit;
  for (;;) {
    const exit = ended();
    if (exit !== null) throw new Error(failure(options, `ended with ${exit.signal ?? `code ${exit.code}`} before it was ready`));
    if (await options.ready().catch(() => false)) return;
    if (performance.now() > deadline) {
      await server.kill();
      throw new Error(failure(options, `was not ready after ${limit} ms`));
    }
    await Promise.race([wait(15), server.exited]);
  }
}

function failure(options: ServerSpawn, what: string): string {
  const kept = keepLog(options.logFile);
  return `${options.name} ${what}. End of its log (kept in ${kept}):\n${readLog(options.logFile).split("\n").slice(-15).join("\n").trim()}`;
}
