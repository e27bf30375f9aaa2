import { readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { importBuilt, root } from "../built.mjs";
import { withResource } from "../with-resource.mjs";
import { progressLine } from "./progress-line.mjs";

const lookEveryMs = 5;
const longestRunMs = 120_000;

/** Runs `sinks run -c FILE` and kills it with SIGKILL once half of the messages are acknowledged. */
export async function runKilledHalfWay(demo) {
  return withResource(await start(["run", "-c", demo.configurationFile]), (run) => killHalfWay(run, demo));
}

async function killHalfWay(run, { folder, stream, total, output }) {
  const progress = progressLine(output, "sinks run", total);
  const deadline = performance.now() + longestRunMs;
  let acknowledged = null;
  let begun = null;
  while (acknowledged === null || acknowledged < total / 2) {
    if (!run.isRunning()) throw new Error(`the command ended before half of the messages were stored: ${await log(run, folder, 1)}`);
    if (performance.now() > deadline) throw new Error(`half of the messages were not stored after ${longestRunMs / 1000} s`);
    await wait(lookEveryMs);
    acknowledged = await acknowledgedOf(stream);
    if (acknowledged === null) continue;
    begun ??= performance.now();
    progress.show(acknowledged);
  }
  const seconds = (performance.now() - begun) / 1000;
  await run.kill();
  const atKill = await acknowledgedOf(stream);
  progress.end(`killed with SIGKILL at ${atKill}`);
  await log(run, folder, 1);
  if (atKill >= total) throw new Error("the command was done before it could be killed");
  return { rate: acknowledged / seconds };
}

/** Runs `sinks run -c FILE --once` to its end: everything that is in the stream at its start. */
export async function runCommand(demo) {
  return withResource(await start(["run", "-c", demo.configurationFile, "--once"]), (run) => untilEnded(run, demo));
}

async function untilEnded(run, { folder, stream, total, output }) {
  const progress = progressLine(output, "sinks run --once", total);
  const deadline = performance.now() + longestRunMs;
  while (run.isRunning() && performance.now() < deadline) {
    await Promise.race([wait(20), run.exited]);
    progress.show((await acknowledgedOf(stream)) ?? 0);
  }
  const { code } = run.isRunning() ? await run.kill() : await run.exited;
  progress.end(code === 0 ? "done" : `ended with code ${code}`);
  return { code, lastLine: await log(run, folder, 2) };
}

async function start(args) {
  const { startVictim } = await importBuilt("packages/testing/dist/faults.js");
  const { bin } = JSON.parse(readFileSync(join(root, "apps/cli/package.json"), "utf8"));
  return startVictim({ command: process.execPath, args: [join(root, "apps/cli", bin.sinks), ...args], directory: root });
}

/** Messages that are acknowledged: all that were delivered, less those still unsettled. Null before the consumer exists. */
async function acknowledgedOf({ manager }) {
  try {
    const { delivered, num_ack_pending: unsettled } = await manager.consumers.info("EVENTS", "demo");
    return delivered.stream_seq - unsettled;
  } catch (error) {
    if (error.name === "ConsumerNotFoundError") return null;
    throw error;
  }
}

/** Keeps what a run printed beside its files; answers the last line of it. */
async function log(run, folder, number) {
  const text = `${run.output}${run.diagnostics}`;
  await writeFile(join(folder, `run-${number}.log`), text);
  return text.trim().split("\n").at(-1) ?? "";
}
