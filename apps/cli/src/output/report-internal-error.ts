import type { Host } from "../host.js";
import { oneLine, redactUserInfo } from "./escape.js";

/** One line for a fault of the program itself; where it happened is shown only with SINKS_DEBUG=1. */
export function reportInternalError(error: unknown, host: Host): void {
  const text = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  host.stderr.write(`sinks: internal error: ${oneLine(text, 500)}; set SINKS_DEBUG=1 to see where\n`);
  if (host.environment["SINKS_DEBUG"] === "1" && error instanceof Error) host.stderr.write(`${redactUserInfo(error.stack ?? "")}\n`);
}
