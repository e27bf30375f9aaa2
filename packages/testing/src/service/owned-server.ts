import { join } from "node:path";
import { eventually } from "../eventually.js";
import { freePort } from "./free-port.js";
import { processState } from "./process-state.js";
import type { RunningServer } from "./running-server.js";
import { keepLog, readLog } from "./server-log.js";
import type { ServerProcess } from "./spawn-server.js";
import { makeTemporaryFolder } from "./temporary-folder.js";

/** A server binary that was found. */
export interface ServerBinary {
  readonly binary: string;
  readonly version: string;
  readonly origin: string;
}

/** Where one server keeps its data and log, and where it listens. */
export interface ServerPlace {
  readonly folder: string;
  readonly logFile: string;
  readonly port: number;
}

/** How one kind of server is run as a process of ours. */
export interface ServerPlan {
  /** Name in messages. */
  readonly name: string;
  /** Short name of its folder and log. */
  readonly purpose: string;
  readonly found: ServerBinary;
  url(port: number): string;
  /** Fills the new folder. */
  prepare(folder: string): Promise<void>;
  /** Starts the process, the first time and again. */
  launch(place: ServerPlace): Promise<ServerProcess>;
}

/** A server process with what its kind needs to add its own verbs. */
export interface OwnedServer extends RunningServer {
  readonly folder: string;
  /** Starts it again on the same data and port, stopping it first when it runs; `change` comes in between. */
  relaunch(change?: () => Promise<void>): Promise<void>;
  signal(name: NodeJS.Signals): void;
}

const portAttempts = 5;

/** Starts a server in a temporary folder on a free port; another process may take that port meanwhile, so it tries again. */
export async function startOwnedServer(plan: ServerPlan): Promise<OwnedServer> {
  const temporary = await makeTemporaryFolder(plan.purpose);
  const folder = temporary.path;
  try {
    await plan.prepare(folder);
    for (let attempt = 1; ; attempt += 1) {
      const place = { folder, logFile: join(folder, `${plan.purpose}.log`), port: await freePort() };
      try {
        return control(plan, place, temporary, await plan.launch(place));
      } catch (error) {
        if (attempt === portAttempts || !/address already in use/i.test((error as Error).message)) throw error;
      }
    }
  } catch (error) {
    await temporary[Symbol.asyncDispose]();
    throw error;
  }
}

function control(plan: ServerPlan, place: ServerPlace, temporary: AsyncDisposable, first: ServerProcess): OwnedServer {
  let server = first;
  let endedByUs = false;
  const end = async (how: "stop" | "kill") => {
    if (!server.isRunning() && !endedByUs) await reportCrash(plan.name, server, place.logFile);
    endedByUs = true;
    await server[how]();
  };
  return {
    url: plan.url(place.port),
    port: place.port,
    version: plan.found.version,
    origin: plan.found.origin,
    own: true,
    folder: place.folder,
    get pid() {
      return server.isRunning() ? server.pid : null;
    },
    log: async () => readLog(place.logFile),
    stop: () => end("stop"),
    kill: () => end("kill"),
    async relaunch(change) {
      await end("stop");
      await change?.();
      server = await plan.launch(place);
      endedByUs = false;
    },
    signal: (name) => server.signal(name),
    async freeze() {
      server.signal("SIGSTOP");
      if (process.platform === "linux") {
        await eventually(() => processState(server.pid) === "stopped", {
          deadlineMs: 5_000,
          what: `${plan.name} to freeze`,
          intervalMs: 2,
        });
      }
    },
    async thaw() {
      server.signal("SIGCONT");
    },
    async [Symbol.asyncDispose]() {
      await end("stop");
      await temporary[Symbol.asyncDispose]();
    },
  };
}

/** A server that went away by itself is a finding: its log outlives the folder, and whoever reads the test's output is told. */
async function reportCrash(name: string, server: ServerProcess, logFile: string): Promise<void> {
  const { signal, code } = await server.exited;
  process.emitWarning(`${name} ended by itself (${signal ?? `code ${code}`}); its log is kept in ${keepLog(logFile)}`);
}
