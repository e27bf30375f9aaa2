/** The product: a runner with the sink that the parent asked for, `no-op`, `file` or `postgres`. */
import { importBuilt } from "../../built.mjs";
import { connect, measure, settings, untilAcknowledged } from "./arm.mjs";

const { createRunner, validateConfiguration } = await importBuilt("packages/core/dist/runtime.js");
const { silentTelemetry } = await importBuilt("packages/core/dist/index.js");

const services = { telemetry: silentTelemetry, nowNs: () => BigInt(Date.now()) * 1_000_000n, workingDirectory: settings.folder };

/** Options of the PostgreSQL sink for what the parent asked to be written. */
const postgresWrites = {
  envelope: {},
  fields: {
    write: [
      {
        op: "upsert",
        table: "orders",
        data: { order: ":payload.order", customer: ":payload.customer", amount_cents: ":payload.amount_cents" },
        conflict: ["order"],
      },
    ],
  },
};

const sinks = {
  postgres: async () => {
    const { postgres } = await importBuilt("packages/postgres/dist/index.js");
    const options = postgres.options.parse({
      url: settings.database,
      ...postgresWrites[settings.write],
      ...(settings.ledger ? { ledger: { enabled: true } } : {}),
    });
    return () => postgres.create(options, services);
  },
  "no-op": async () => () => ({ start: async () => undefined, writeBatch: async () => undefined, stop: async () => undefined }),
  file: async () => {
    const { file } = await importBuilt("packages/file/dist/index.js");
    const options = file.options.parse({ directory: settings.folder, mode: "segments", include_metadata: settings.includeMetadata });
    return () => file.create(options, services);
  },
};

/** Calls back once the sink has stored every message. */
function counted(sink, onAll) {
  let stored = 0;
  return {
    ...sink,
    start: (context) => sink.start(context),
    stop: () => sink.stop(),
    async writeBatch(messages, context) {
      const outcomes = await sink.writeBatch(messages, context);
      stored += messages.length;
      if (stored >= settings.count) onAll();
      return outcomes;
    },
  };
}

const createSink = await sinks[settings.sink]();
const configuration = validateConfiguration({
  nats: { url: settings.url, stream: settings.stream, consumer: settings.consumer, subject: `${settings.stream}.>` },
  sink: { type: "file", directory: settings.folder },
});

// The observer's own connection is no part of the work.
const { connection, manager } = await connect();

await measure(async () => {
  let allStored = () => undefined;
  const all = new Promise((resolve) => {
    allStored = resolve;
  });
  const runner = createRunner({ configuration, createSink: () => counted(createSink(), allStored), sinkName: settings.sink });
  await runner.start();
  const ended = runner.run();
  await Promise.race([all, ended]);
  await untilAcknowledged(manager);
  return {
    async finish() {
      await runner.stop();
      const summary = await ended;
      if (summary.stored !== settings.count)
        throw new Error(`the runner reports ${summary.stored} stored messages instead of ${settings.count}`);
      await connection.close();
    },
  };
});
