import { type ChildProcess, spawn } from "node:child_process";
import { eventually } from "../eventually.js";
import { endWithOwner } from "../service/end-with-owner.js";
import { type KillAt, killAtEnvironment } from "./fault-points.js";

/** What is started to be killed. */
export interface VictimOptions {
  readonly command: string;
  readonly args: readonly string[];
  readonly directory?: string;
  /** Added to the environment of this process. */
  readonly environment?: Readonly<Record<string, string>>;
  /** A point of the program (`faultPoints`) at which it dies by SIGKILL. */
  readonly killAt?: KillAt;
}

/** How a victim ended. */
export interface VictimExit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** A child process under test; dispose kills it. */
export interface Victim extends AsyncDisposable {
  readonly pid: number;
  /** Standard output so far. */
  readonly output: string;
  /** Standard error so far. */
  readonly diagnostics: string;
  readonly exited: Promise<VictimExit>;
  isRunning(): boolean;
  /** Sends a signal and does not wait; nothing happens when it has ended. */
  signal(name: NodeJS.Signals): void;
  /** SIGKILL, and waits for the end. */
  kill(): Promise<VictimExit>;
  /** SIGKILL as soon as the condition holds; rejects when it does not in time or when the process ends first. */
  killWhen(
    condition: () => boolean | Promise<boolean>,
    options: { readonly deadlineMs: number; readonly what: string },
  ): Promise<VictimExit>;
  /** SIGKILL after so many milliseconds; resolves early when it ends before. */
  killAfter(milliseconds: number): Promise<VictimExit>;
}

/** Starts a process that a fault test will kill. It ends with this process, however that one ends. */
export async function startVictim(options: VictimOptions): Promise<Victim> {
  const owned = await endWithOwner(options.command, options.args);
  const child = spawn(owned.command, [...owned.args], {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, ...options.environment, ...(options.killAt === undefined ? {} : killAtEnvironment(options.killAt)) },
    ...(options.directory === undefined ? {} : { cwd: options.directory }),
  });
  const text = { output: "", diagnostics: "" };
  child.stdout?.setEncoding("utf8").on("data", (chunk: string) => (text.output += chunk));
  child.stderr?.setEncoding("utf8").on("data", (chunk: string) => (text.diagnostics += chunk));
  let ended: VictimExit | null = null;
  const exited = whenEnded(child).then((exit) => (ended = exit));
  // Whoever waits for the end sees a failure to start; nobody else is disturbed by it.
  exited.catch(() => undefined);
  const release = child.pid === undefined ? () => undefined : owned.watch(child.pid);
  void exited.then(release, release);

  const kill = () => {
    child.kill("SIGKILL");
    return exited;
  };
  return {
    pid: child.pid ?? -1,
    get output() {
      return text.output;
    },
    get diagnostics() {
      return text.diagnostics;
    },
    exited,
    isRunning: () => ended === null,
    signal: (name) => void child.kill(name),
    kill,
    async killWhen(condition, { deadlineMs, what }) {
      const over = new AbortController();
      void exited.then(() => over.abort(new Error(`the process ended before ${what}`)));
      await eventually(condition, { deadlineMs, what, intervalMs: 5, signal: over.signal });
      return kill();
    },
    killAfter(milliseconds) {
      const timer = setTimeout(() => child.kill("SIGKILL"), milliseconds);
      return exited.finally(() => clearTimeout(timer));
    },
    async [Symbol.asyncDispose]() {
      if (ended === null) await kill().catch(() => undefined);
    },
  };
}

/** Resolves once the process has ended and its output is read to the end. */
function whenEnded(child: ChildProcess): Promise<VictimExit> {
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code, signal) => resolve({ code, signal }));
  });
}
