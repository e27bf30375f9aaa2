import { spawn } from "node:child_process";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { jetstream, jetstreamManager } from "@nats-io/jetstream";
import { connect } from "@nats-io/transport-node";
import { makeTemporaryFolder, type NatsServer, startNats } from "@sinks/testing/services";
import { afterAll, beforeAll, expect, test } from "vitest";

const project = path.join(import.meta.dirname, "..");
const command = path.join(project, "../../apps/cli/dist/sinks.js");

let nats: NatsServer;
beforeAll(async () => {
  nats = await startNats();
});
afterAll(() => nats[Symbol.asyncDispose]());

/** Runs the built command in the folder of this project, as a user does. */
function sinks(...commandLine: string[]): Promise<{ readonly exitCode: number | null; readonly stdout: string; readonly stderr: string }> {
  const child = spawn(process.execPath, [command, ...commandLine], { cwd: project, env: { PATH: process.env["PATH"] ?? "" } });
  let stdout = "";
  let stderr = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    stderr += text;
  });
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (exitCode) => resolve({ exitCode, stdout, stderr }));
  });
}

test("FW-REG-04 a connector of a direct dependency is found, allowed by name, and stores a stream once", async () => {
  await using out = await makeTemporaryFolder("line-log");
  const stream = `READINGS-${process.pid}`;
  const subject = `readings-${process.pid}`;
  const connection = await connect({ servers: nats.url });
  const manager = await jetstreamManager(connection);
  await manager.streams.add({ name: stream, subjects: [`${subject}.>`] });
  const client = jetstream(connection);
  for (let value = 1; value <= 200; value += 1) await client.publish(`${subject}.a`, `{"value":${value}}`);

  const file = path.join(out.path, "readings.log");
  const values = { "nats.url": nats.url, "nats.stream": stream, "nats.subject": `${subject}.>`, "sink.file": file };
  const overrides = Object.entries(values).flatMap(([key, value]) => ["--set", `${key}=${value}`]);
  const runOnce = () => sinks("run", "sinks.yaml", "--once", "--timeout", "60", "--format", "json", ...overrides);

  const first = await runOnce();
  expect([first.exitCode, first.stderr.includes("sinks:")], first.stderr).toEqual([0, false]);
  expect(JSON.parse(first.stdout)).toMatchObject({ received: 200, stored: 200, dead_lettered: 0, held: 0 });
  const lines = (await readFile(file, "utf8")).trimEnd().split("\n");
  const records = lines.map((line) => JSON.parse(line) as { readonly key: string; readonly payload: { readonly value: number } });
  expect(new Set(records.map(({ payload }) => payload.value)).size).toBe(200);
  expect(new Set(records.map(({ key }) => key)).size).toBe(200);

  // Everything is acknowledged: another run has nothing to do.
  const again = await runOnce();
  expect([again.exitCode, JSON.parse(again.stdout).received]).toEqual([0, 0]);
  await manager.streams.delete(stream);
  await connection.close();
});

test("FW-REG-04 without the word of the configuration it is refused in one line", async () => {
  const refused = await sinks("validate", "sinks.yaml", "--set", "plugins.enabled=false");
  expect(refused.exitCode).toBe(2);
  expect(refused.stderr).toMatch(/^sinks: plugins\.enabled: the connector is of a third party, package example-line-log; .*\n$/);
  const unready = await sinks("validate", "sinks.yaml", "--set", "plugins.require_production_ready=true");
  expect([unready.exitCode, unready.stderr.includes("plugins.require_production_ready")]).toEqual([2, true]);
});

test("FW-REG-02 the command knows its options from the schema of the connector", async () => {
  expect((await sinks("validate", "sinks.yaml")).exitCode).toBe(0);
  const wrong = await sinks("validate", "sinks.yaml", "--set", "sink.fiel=readings.log");
  expect([wrong.exitCode, wrong.stderr.includes('did you mean "file"')]).toEqual([2, true]);
  const listed = await sinks("connectors", "list");
  expect(listed.stdout).toMatch(/line-log/);
});
