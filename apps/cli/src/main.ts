import { CommanderError } from "commander";
import type { Host } from "./host.js";
import { createProgram } from "./program.js";

/** Runs one command line to its end and gives the exit code; never rejects for anything a user can cause. */
export async function main(commandLine: readonly string[], host: Host): Promise<number> {
  let exitCode = 0;
  const program = createProgram(host, (code) => {
    exitCode = code;
  });
  try {
    await program.parseAsync([...commandLine], { from: "user" });
    return exitCode;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    throw error;
  }
}
