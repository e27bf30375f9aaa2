import { readFileSync } from "node:fs";

/** What a process is doing: `gone` also covers a zombie that nobody has collected yet. */
export type ProcessState = "running" | "stopped" | "gone";

/** Reads the state of a process. Where `/proc` does not exist a stopped process reads as running. */
export function processState(pid: number): ProcessState {
  if (process.platform === "linux") return stateFromStat(readStat(pid));
  try {
    process.kill(pid, 0);
    return "running";
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM" ? "running" : "gone";
  }
}

/** Reads the state letter of a `/proc/PID/stat` line; `null` stands for a file that is not there. */
export function stateFromStat(stat: string | null): ProcessState {
  if (stat === null) return "gone";
  // The command name stands in parentheses and may itself hold some: the state follows the last one.
  const letter = stat.slice(stat.lastIndexOf(")") + 2).charAt(0);
  if (letter === "Z" || letter === "X" || letter === "") return "gone";
  return letter === "T" || letter === "t" ? "stopped" : "running";
}

function readStat(pid: number): string | null {
  try {
    return readFileSync(`/proc/${pid}/stat`, "latin1");
  } catch {
    return null;
  }
}
