/** A runner whose sink is a tenth as fast as the pipeline, over a large backlog: memory is sampled while it runs. */
import { setTimeout as wait } from "node:timers/promises";
import { importBuilt } from "../../built.mjs";
import { connect, settings } from "./arm.mjs";

const { createRunner, validateConfiguration } = await importBuilt("packages/core/dist/runtime.js");
const sampleEveryMs = 100;

const configuration = validateConfiguration({
  nats: { url: settings.url, stream: settings.stream, consumer: settings.consumer, subject: `${settings.stream}.>` },
  sink: { type: "file", directory: settings.folder },
});
let stored = 0;
/** When the sink has taken everything it was given so far: it stands for a destination with a fixed rate. */
let busyUntil = 0;
const slowSink = {
  start: async () => undefined,
  stop: async () => undefined,
  async writeBatch(messages) {
    const now = performance.now();
    busyUntil = Math.max(busyUntil, now) + (messages.length / settings.messagesPerSecond) * 1000;
    await wait(busyUntil - now);
    stored += messages.length;
  },
};

const runner = createRunner({ configuration, createSink: () => slowSink, sinkName: "slow" });
await runner.start();
const begin = performance.now();
const ended = runner.run();
const samples = [];
while (performance.now() - begin < settings.seconds * 1000) {
  await wait(sampleEveryMs);
  samples.push({ seconds: (performance.now() - begin) / 1000, megabytes: process.memoryUsage.rss() / 1024 ** 2 });
}
const rate = stored / ((performance.now() - begin) / 1000);
await runner.stop();
const summary = await ended;

const { connection, manager } = await connect();
const { num_pending: unread, num_ack_pending: unsettled } = await manager.consumers.info(settings.stream, settings.consumer);
await connection.close();
process.stdout.write(`${JSON.stringify({ samples, rate, stored, reported: summary.stored, unread, unsettled })}\n`);
