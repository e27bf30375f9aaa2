import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";
import { expect, test } from "vitest";
import { eventually } from "../src/eventually.js";
import { processState } from "../src/service/process-state.js";
import { makeTemporaryFolder } from "../src/service/temporary-folder.js";
import { compileSources } from "./compiled-source.js";

/**
 * A program that starts a server and then waits; `frozen` freezes the server first, `thread` starts it from a worker thread,
 * `account` starts one that runs under another account when we are root.
 */
function owner(folder: string, kind: "plain" | "frozen" | "thread" | "account"): ChildProcess {
  const services = pathToFileURL(join(folder, "services.js")).href;
  const body = `
    const { startNats, startPostgres } = await import(${JSON.stringify(services)});
    const server = await ${kind === "account" ? "startPostgres" : "startNats"}({ ownServer: true });
    ${kind === "frozen" ? "await server.freeze();" : ""}
    console.log(server.pid);
    setInterval(() => {}, 1000);`;
  const program =
    kind === "thread"
      ? `const { Worker } = await import("node:worker_threads"); new Worker(new URL("data:text/javascript," + ${JSON.stringify(encodeURIComponent(body))}));`
      : body;
  return spawn(process.execPath, ["--input-type=module", "-e", program], { stdio: ["ignore", "pipe", "inherit"] });
}

test.each(["plain", "frozen", "thread", "account"] as const)("SIGKILL of the test run ends its server (%s)", async (kind) => {
  using sources = compileSources();
  const child = owner(sources.folder, kind);
  const [line] = (await once(createInterface({ input: child.stdout as NodeJS.ReadableStream }), "line")) as [string];
  const server = Number(line);
  expect(processState(server)).toBe(kind === "frozen" ? "stopped" : "running");
  child.kill("SIGKILL");
  await eventually(() => processState(server) === "gone", { deadlineMs: 10_000, what: "the server to end with its owner" });
});

test("the folder of a killed test run is removed by the next one", async () => {
  using sources = compileSources();
  const module = pathToFileURL(join(sources.folder, "service/temporary-folder.js")).href;
  const program = `const { makeTemporaryFolder } = await import(${JSON.stringify(module)}); console.log((await makeTemporaryFolder("orphan")).path); setInterval(() => {}, 1000);`;
  const child = spawn(process.execPath, ["--input-type=module", "-e", program], { stdio: ["ignore", "pipe", "inherit"] });
  const [path] = (await once(createInterface({ input: child.stdout as NodeJS.ReadableStream }), "line")) as [string];
  await using _living = await makeTemporaryFolder("orphan");
  expect(existsSync(path)).toBe(true);
  child.kill("SIGKILL");
  await once(child, "exit");
  await using _next = await makeTemporaryFolder("orphan");
  expect(existsSync(path)).toBe(false);
  expect(existsSync(_living.path)).toBe(true);
});
