/**
 * Publisher and product in one process, so that one clock measures both ends: from the call that publishes a message until
 * the sink reports its batch durable.
 */
import { setTimeout as wait } from "node:timers/promises";
import { importBuilt } from "../../built.mjs";
import { event } from "../backlog.mjs";
import { connect, settings } from "./arm.mjs";

const { createRunner, validateConfiguration } = await importBuilt("packages/core/dist/runtime.js");
const { silentTelemetry } = await importBuilt("packages/core/dist/index.js");
const { postgres } = await importBuilt("packages/postgres/dist/index.js");

const options = postgres.options.parse({ url: settings.database });
const services = { telemetry: silentTelemetry, nowNs: () => BigInt(Date.now()) * 1_000_000n, workingDirectory: settings.folder };
const published = new Float64Array(settings.count + 1);
const milliseconds = new Float64Array(settings.count);
let stored = 0;

function timed(sink) {
  return {
    start: (context) => sink.start(context),
    stop: () => sink.stop(),
    async writeBatch(messages, context) {
      const outcomes = await sink.writeBatch(messages, context);
      const now = performance.now();
      for (const { streamSequence } of messages) {
        const sequence = Number(streamSequence);
        milliseconds[sequence - 1] = now - published[sequence];
      }
      stored += messages.length;
      return outcomes;
    },
  };
}

const configuration = validateConfiguration({
  nats: { url: settings.url, stream: settings.stream, consumer: settings.consumer, subject: `${settings.stream}.>` },
  sink: { type: "postgres", url: settings.database },
});
const { connection } = await connect();
const runner = createRunner({ configuration, createSink: () => timed(postgres.create(options, services)), sinkName: "postgres" });
await runner.start();
const ended = runner.run();
const begin = performance.now();
for (let sequence = 1; sequence <= settings.count; ) {
  const due = Math.min(settings.count, Math.floor(((performance.now() - begin) / 1000) * settings.messagesPerSecond));
  for (; sequence <= due; sequence += 1) {
    published[sequence] = performance.now();
    connection.publish(`${settings.stream}.orders`, event(sequence));
  }
  await wait(1);
}
const over = ended.then((summary) => {
  if (stored < settings.count) throw new Error(`the runner ended with ${summary.stored} of ${settings.count} messages stored`);
});
while (stored < settings.count) await Promise.race([wait(5), over]);
await runner.stop();
await ended;
await connection.close();
process.stdout.write(`${JSON.stringify({ milliseconds: [...milliseconds] })}\n`);
