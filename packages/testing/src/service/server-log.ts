import { copyFileSync, mkdirSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";

/** Reads a server's log; empty when there is none. */
export function readLog(logFile: string): string {
  try {
    return readFileSync(logFile, "utf8");
  } catch {
    return "";
  }
}

/** Copies a log out of a folder that is about to be removed; answers where it is now. */
export function keepLog(logFile: string): string {
  const folder = join(tmpdir(), "sinks-service-logs");
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const target = join(folder, `${new Date().toISOString().replaceAll(":", "-")}-${process.pid}-${basename(logFile)}`);
  copyFileSync(logFile, target);
  return target;
}
