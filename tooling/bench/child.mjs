import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { root } from "../built.mjs";

/** Longest time that one run of an arm may take. */
const longestMinutes = 5;

/** Runs one arm in a process of its own and answers the measurement that it prints as its last line. */
export async function runArm(arm, settings) {
  const file = join(root, "tooling/bench/arms", `${arm}.mjs`);
  const child = spawn(process.execPath, [file, JSON.stringify(settings)], { stdio: ["ignore", "pipe", "inherit"] });
  // Whatever hangs, a bench that waits for ever tells nothing.
  const late = setTimeout(() => {
    process.stderr.write(`the arm ${arm} did not end within ${longestMinutes} minutes\n`);
    child.kill("SIGKILL");
  }, longestMinutes * 60_000);
  const killChild = () => void child.kill("SIGKILL");
  process.once("exit", killChild);
  let last = "";
  for await (const line of createInterface({ input: child.stdout })) last = line;
  if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
  process.off("exit", killChild);
  clearTimeout(late);
  if (child.exitCode !== 0) throw new Error(`the arm ${arm} ended with ${child.signalCode ?? `code ${child.exitCode}`}`);
  return JSON.parse(last);
}
