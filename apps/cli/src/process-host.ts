import { readFileSync } from "node:fs";
import type { WriteStream } from "node:tty";
import type { Host, Output } from "./host.js";

function output(stream: WriteStream): Output {
  // A reader that went away (`sinks dlq list | head`) must end nothing: delivery goes on without its log (FW-OBS-06).
  stream.on("error", () => undefined);
  return {
    write: (text) => void stream.write(text),
    isTerminal: stream.isTTY === true,
    columns: () => stream.columns || 80,
  };
}

function ownVersion(): string {
  const text = readFileSync(new URL("../package.json", import.meta.url), "utf8");
  return (JSON.parse(text) as { version: string }).version;
}

/** The host of the real process; `commandUrl` is the URL of the bin file. */
export function createProcessHost(commandUrl: string): Host {
  return {
    version: ownVersion(),
    environment: process.env,
    workingDirectory: process.cwd(),
    commandUrl,
    stdout: output(process.stdout),
    stderr: output(process.stderr),
    nowNs: () => BigInt(Date.now()) * 1_000_000n,
    monotonicMs: () => performance.now(),
    onSignal(signal, listener) {
      process.on(signal, listener);
      return () => void process.off(signal, listener);
    },
    leave: (exitCode) => process.exit(exitCode),
  };
}

/** Resolves when everything written to both outputs has been handed to the system, or could not be. */
export async function flushOutputs(): Promise<void> {
  await Promise.all(
    [process.stdout, process.stderr].map((stream) => new Promise<void>((resolve) => void stream.write("", () => resolve()))),
  );
}
