import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { eventually } from "../eventually.js";
import type { NatsRestart, NatsServer } from "./nats-server.js";
import { type ServerBinary, type ServerPlace, startOwnedServer } from "./owned-server.js";
import { type ServerProcess, spawnServer } from "./spawn-server.js";

/** Starts an own nats-server process with JetStream and file storage in a temporary folder. */
export async function startNatsProcess(found: ServerBinary, config: string): Promise<NatsServer> {
  const server = await startOwnedServer({
    name: "nats-server",
    purpose: "nats",
    found,
    url: (port) => `nats://127.0.0.1:${port}`,
    prepare: (folder) => writeConfig(folder, config),
    launch: (place) => launch(found.binary, place),
  });
  return Object.assign(server, {
    restart: ({ config: changed }: NatsRestart = {}) =>
      server.relaunch(async () => {
        if (changed !== undefined) await writeConfig(server.folder, changed);
      }),
    async reload(changed: string) {
      await writeConfig(server.folder, changed);
      const reloads = async () => (await server.log()).split("Reloaded server configuration").length;
      const before = await reloads();
      server.signal("SIGHUP");
      await eventually(async () => (await reloads()) > before, { deadlineMs: 5_000, what: "nats-server to take its new configuration" });
    },
  });
}

async function launch(binary: string, { folder, logFile, port }: ServerPlace): Promise<ServerProcess> {
  // The port of the monitoring address is told by a file in a folder of ours, so that it is our server that answers.
  const portsFolder = join(folder, "ports");
  await rm(portsFolder, { recursive: true, force: true });
  await mkdir(portsFolder);
  const args = ["-c", join(folder, "nats.conf"), "-a", "127.0.0.1", "-p", String(port), "-m", "-1"];
  args.push("--ports_file_dir", portsFolder, "-js", "-sd", join(folder, "data"));
  return spawnServer({ name: "nats-server", binary, args, logFile, ready: () => isHealthy(portsFolder) });
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
