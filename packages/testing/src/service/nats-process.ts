import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { eventually } from "../eventually.js";
import { freePort } from "./free-port.js";
import type { NatsRestart, NatsServer } from "./nats-server.js";
import { processState } from "./process-state.js";
import { keepLog, readLog } from "./server-log.js";
import { type ServerProcess, spawnServer } from "./spawn-server.js";
import { makeTemporaryFolder } from "./temporary-folder.js";

/** A nats-server binary that was found. */
export interface NatsBinary {
  readonly binary: string;
  readonly version: string;
  readonly origin: string;
}

const portAttempts = 5;

/** Starts an own nats-server process with JetStream and file storage in a temporary folder. */
export async function startNatsProcess(found: NatsBinary, config: string): Promise<NatsServer> {
  const folder = await makeTemporaryFolder("nats");
  try {
    await writeConfig(folder.path, config);
    for (let attempt = 1; ; attempt += 1) {
      const port = await freePort();
      try {
        return control(found, folder, port, await launch(found, folder.path, port));
      } catch (error) {
        if (attempt === portAttempts || !/address already in use/.test((error as Error).message)) throw error;
      }
    }
  } catch (error) {
    await folder[Symbol.asyncDispose]();
    throw error;
  }
}

function control(found: NatsBinary, folder: { path: string } & AsyncDisposable, port: number, first: ServerProcess): NatsServer {
  let server = first;
  let endedByUs = false;
  const logFile = join(folder.path, "nats.log");
  const end = async (how: "stop" | "kill") => {
    if (!server.isRunning() && !endedByUs) await reportCrash(server, logFile);
    endedByUs = true;
    await server[how]();
  };
  return {
    url: `nats://127.0.0.1:${port}`,
    port,
    version: found.version,
    origin: found.origin,
    own: true,
    get pid() {
      return server.isRunning() ? server.pid : null;
    },
    log: async () => readLog(logFile),
    stop: () => end("stop"),
    kill: () => end("kill"),
    async restart(changes: NatsRestart = {}) {
      await end("stop");
      if (changes.config !== undefined) await writeConfig(folder.path, changes.config);
      server = await launch(found, folder.path, port);
      endedByUs = false;
    },
    async reload(changed) {
      await writeConfig(folder.path, changed);
      const before = reloads(logFile);
      server.signal("SIGHUP");
      await eventually(() => reloads(logFile) > before, { deadlineMs: 5_000, what: "nats-server to take its new configuration" });
    },
    async freeze() {
      server.signal("SIGSTOP");
      if (process.platform === "linux") {
        await eventually(() => processState(server.pid) === "stopped", { deadlineMs: 5_000, what: "nats-server to freeze", intervalMs: 2 });
      }
    },
    async thaw() {
      server.signal("SIGCONT");
    },
    async [Symbol.asyncDispose]() {
      await end("stop");
      await folder[Symbol.asyncDispose]();
    },
  };
}

function reloads(logFile: string): number {
  return readLog(logFile).split("Reloaded server configuration").length;
}

/** A server that went away by itself is a finding: its log outlives the folder, and whoever reads the test's output is told. */
async function reportCrash(server: ServerProcess, logFile: string): Promise<void> {
  const { signal, code } = await server.exited;
  process.emitWarning(`nats-server ended by itself (${signal ?? `code ${code}`}); its log is kept in ${keepLog(logFile)}`);
}

async function launch(found: NatsBinary, folder: string, port: number): Promise<ServerProcess> {
  // The port of the monitoring address is told by a file in a folder of ours, so that it is our server that answers.
  const portsFolder = join(folder, "ports");
  await rm(portsFolder, { recursive: true, force: true });
  await mkdir(portsFolder);
  const args = ["-c", join(folder, "nats.conf"), "-a", "127.0.0.1", "-p", String(port), "-m", "-1"];
  args.push("--ports_file_dir", portsFolder, "-js", "-sd", join(folder, "data"));
  return spawnServer({
    name: "nats-server",
    binary: found.binary,
    args,
    logFile: join(folder, "nats.log"),
    ready: () => isHealthy(portsFolder),
  });
}

async function isHealthy(portsFolder: string): Promise<boolean> {
  const file = (await readdir(portsFolder)).find((name) => name.endsWith(".ports"));
  if (file === undefined) return false;
  const ports = JSON.parse(await readFile(join(portsFolder, file), "utf8")) as { monitoring?: string[] };
  const answer = await fetch(`${ports.monitoring?.[0]}/healthz`, { signal: AbortSignal.timeout(1_000) });
  return answer.ok && ((await answer.json()) as { status?: string }).status === "ok";
}

function writeConfig(folder: string, config: string): Promise<void> {
  return writeFile(join(folder, "nats.conf"), `${config}\n`, { mode: 0o600 });
}
