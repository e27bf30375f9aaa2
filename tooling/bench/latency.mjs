import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { runArm } from "./child.mjs";

const messagesPerSecond = 1_000;
/** Longest time, ms, that 99 of 100 messages may take from publishing to being durable. */
const target = 20;
/** Messages that are not counted: connections are made and code is compiled meanwhile. */
const warmUp = 2_000;

/** Publishes at a steady rate while the product runs and answers how long messages take until their row is durable. */
export async function measureLatency({ url, database, manager, folder, seconds }) {
  const stream = "latency";
  await manager.streams.add({ name: stream, subjects: [`${stream}.>`], storage: "file" });
  await database.prepare("envelope");
  const own = join(folder, "latency");
  await mkdir(own);
  const count = messagesPerSecond * seconds + warmUp;
  const settings = { url, stream, consumer: "latency", folder: own, count, database: database.url, messagesPerSecond };
  const { milliseconds } = await runArm("latency", settings);
  await database.check("envelope", count);
  await rm(own, { recursive: true });
  const counted = milliseconds.slice(warmUp).sort((one, two) => one - two);
  const at = (share) => counted[Math.min(counted.length - 1, Math.floor(counted.length * share))];
  return { messages: counted.length, messagesPerSecond, target, p50: at(0.5), p99: at(0.99), max: counted.at(-1) };
}
