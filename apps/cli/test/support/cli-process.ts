import { type ChildProcess, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import path from "node:path";

const script = path.join(import.meta.dirname, "../../dist/sinks.js");

/** How a command ended and what it printed. */
export interface CliResult {
  readonly exitCode: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A running command. */
export interface CliProcess extends AsyncDisposable {
  kill(signal: NodeJS.Signals): void;
  stdout(): string;
  stderr(): string;
  running(): boolean;
  /** Closes the reading ends of its outputs, as a reader that went away does. */
  closeOutputs(): void;
  readonly ended: Promise<CliResult>;
}

export interface CliOptions {
  readonly workingDirectory: string;
  readonly environment?: Readonly<Record<string, string>>;
}

/** Starts the built command as a process of its own, with nothing of this environment but the path. */
export function startCli(commandLine: readonly string[], options: CliOptions): CliProcess {
  if (!existsSync(script)) throw new Error("the command is not built: run `pnpm build` first");
  const child: ChildProcess = spawn(process.execPath, [script, ...commandLine], {
    cwd: options.workingDirectory,
    env: { PATH: process.env["PATH"] ?? "", ...options.environment },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let stdout = "";
  let stderr = "";
  child.stdout?.setEncoding("utf8").on("data", (text: string) => {
    stdout += text;
  });
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    stderr += text;
  });
  const ended = new Promise<CliResult>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (exitCode, signal) => resolve({ exitCode, signal, stdout, stderr }));
  });
  const running = (): boolean => child.exitCode === null && child.signalCode === null;
  return {
    kill: (signal) => void child.kill(signal),
    stdout: () => stdout,
    stderr: () => stderr,
    running,
    closeOutputs() {
      child.stdout?.destroy();
      child.stderr?.destroy();
    },
    ended,
    async [Symbol.asyncDispose]() {
      if (running()) child.kill("SIGKILL");
      await ended;
    },
  };
}

/** Runs the built command to its end. */
export async function runCli(commandLine: readonly string[], options: CliOptions): Promise<CliResult> {
  await using cli = startCli(commandLine, options);
  return await cli.ended;
}
