#!/usr/bin/env node
import { main } from "./main.js";
import { reportInternalError } from "./output/report-internal-error.js";
import { createProcessHost, flushOutputs } from "./process-host.js";
import { quietConsole } from "./quiet-console.js";

const host = createProcessHost(import.meta.url);
quietConsole(console, host);

function leaveAfterCrash(error: unknown): void {
  reportInternalError(error, host);
  process.exit(1);
}
process.on("uncaughtException", leaveAfterCrash);

// The exit is explicit: a driver that leaves a timer or a socket behind must not keep a finished command alive.
void main(process.argv.slice(2), host).then(async (exitCode) => {
  await flushOutputs();
  process.exit(exitCode);
}, leaveAfterCrash);
