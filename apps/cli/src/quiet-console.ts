import { format } from "node:util";
import type { Host } from "./host.js";
import { oneLine } from "./output/escape.js";

type Console = Pick<typeof globalThis.console, "debug" | "error" | "info" | "log" | "warn">;

/**
 * Keeps libraries from printing: what they say is no result, and may hold anything (FW-CLI-04). With `SINKS_DEBUG=1` each
 * message is a line on stderr.
 */
export function quietConsole(console: Console, host: Pick<Host, "environment" | "stderr">): void {
  const shown = host.environment["SINKS_DEBUG"] === "1";
  const print = (...parts: unknown[]): void => {
    if (shown) host.stderr.write(`library: ${oneLine(format(...parts))}\n`);
  };
  for (const name of ["debug", "error", "info", "log", "warn"] as const) console[name] = print;
}
