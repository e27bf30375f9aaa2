import { type ExecFileException, execFile } from "node:child_process";

/** How a command ended. */
export interface CommandResult {
  readonly succeeded: boolean;
  readonly output: string;
  /** Why it did not succeed, one line; empty when it did. */
  readonly reason: string;
}

/** Runs a command to its end, within `timeoutMs`; never rejects. */
export function runCommand(
  command: string,
  args: readonly string[],
  options: { readonly timeoutMs: number; readonly directory?: string; readonly environment?: Environment },
): Promise<CommandResult> {
  return new Promise((resolve) => {
    const settings = {
      timeout: options.timeoutMs,
      encoding: "utf8" as const,
      maxBuffer: 16 * 1024 * 1024,
      ...(options.directory === undefined ? {} : { cwd: options.directory }),
      ...(options.environment === undefined ? {} : { env: options.environment }),
    };
    execFile(command, [...args], settings, (error, stdout, stderr) => {
      const output = `${stdout}${stderr}`;
      if (error === null) return resolve({ succeeded: true, output, reason: "" });
      resolve({ succeeded: false, output, reason: explain(command, error, output) });
    });
  });
}

/** Environment variables by name, as `process.env` has them. */
export type Environment = Readonly<Record<string, string | undefined>>;

function explain(command: string, error: ExecFileException, output: string): string {
  if (error.code === "ENOENT") return `${command} is not installed`;
  if (error.killed === true) return `${command} did not end in time`;
  const line = output.trim().split("\n").at(-1)?.slice(0, 300) ?? "";
  return line === "" ? `${command} failed (${String(error.code)})` : `${command} failed: ${line}`;
}
