/**
 * The bench: ratios of the runner to hand-written loops that do the same, from interleaved runs in one process tree
 * against one private nats-server. It reports and checks that every message was settled; it never fails for being slow.
 *
 *   pnpm bench [--quick] [--json FILE]
 */
import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { importBuilt, importFrom } from "../built.mjs";
import { leaveOnSignals } from "../leave-on-signals.mjs";
import { withResource } from "../with-resource.mjs";
import { event, fillStream, smallMessage } from "./backlog.mjs";
import { runArm } from "./child.mjs";
import { openDatabase } from "./database.mjs";
import { measureLatency } from "./latency.mjs";
import { describeMachine } from "./machine.mjs";
import { measureMemory } from "./memory.mjs";
import { reportText } from "./report.mjs";
import { firstRecord } from "./same-records.mjs";
import { compare, orderOfRound } from "./statistics.mjs";

const sizes = {
  full: { plain: 500_000, files: 200_000, rows: 200_000, rounds: 6, backlog: 1_000_000, memorySeconds: 30, latencySeconds: 30 },
  quick: { plain: 100_000, files: 40_000, rows: 60_000, rounds: 6, backlog: 200_000, memorySeconds: 8, latencySeconds: 10 },
};

/** Comparisons; the first two arms of each are the same loop twice: the baseline, and the measure of the noise. */
const comparisons = [
  {
    name: "Consume and acknowledge",
    stream: "plain",
    target: 0.85,
    arms: { "bare loop": ["bare"], "bare loop again": ["bare"], "runner, no-op sink": ["runner", { sink: "no-op" }] },
  },
  {
    name: "NDJSON segments, one flush per batch",
    stream: "files",
    target: 0.7,
    arms: {
      "bare loop": ["bare-file", { includeMetadata: true }],
      "bare loop again": ["bare-file", { includeMetadata: true }],
      "runner, file sink": ["runner", { sink: "file", includeMetadata: true }],
    },
  },
  {
    name: "The same without metadata in the records",
    stream: "files",
    target: null,
    arms: {
      "bare loop": ["bare-file", { includeMetadata: false }],
      "bare loop again": ["bare-file", { includeMetadata: false }],
      "runner, file sink": ["runner", { sink: "file", includeMetadata: false }],
    },
  },
  {
    name: "PostgreSQL: whole messages",
    stream: "rows",
    target: 0.9,
    write: "envelope",
    arms: {
      "bare loop": ["bare-postgres"],
      "bare loop again": ["bare-postgres"],
      "runner, postgres sink": ["runner", { sink: "postgres" }],
    },
  },
  {
    name: "PostgreSQL: three fields by a write map",
    stream: "rows",
    target: 0.8,
    write: "fields",
    arms: {
      "bare loop": ["bare-postgres"],
      "bare loop again": ["bare-postgres"],
      "runner, postgres sink": ["runner", { sink: "postgres" }],
    },
  },
  {
    name: "PostgreSQL: the same with the ledger",
    stream: "rows",
    target: 0.6,
    write: "fields",
    arms: {
      "without the ledger": ["runner", { sink: "postgres" }],
      "without it again": ["runner", { sink: "postgres" }],
      "with the ledger": ["runner", { sink: "postgres", ledger: true }],
    },
  },
];

async function main({ quick, json }) {
  const size = quick ? sizes.quick : sizes.full;
  const { startNats, startPostgres, makeTemporaryFolder } = await importBuilt("packages/testing/dist/services.js");
  const report = await withResource(await startNats({ ownServer: true }), async (nats) =>
    withResource(await startPostgres({ ownServer: true, durable: true }), async (postgres) =>
      withResource(await connectTo(nats.url), async (link) =>
        withResource(await openDatabase(postgres.url), async (database) =>
          withResource(await makeTemporaryFolder("bench"), ({ path }) => measureAll({ nats, database, link, folder: path, size, quick })),
        ),
      ),
    ),
  );
  process.stdout.write(`\n${reportText(report)}\n`);
  if (json !== undefined) await writeFile(json, `${JSON.stringify(report, null, 2)}\n`);
}

async function measureAll({ nats, database, link, folder, size, quick }) {
  const machine = { ...describeMachine(nats), postgres: database.version };
  say(`${machine.processor}, ${machine.cores} cores, Node ${machine.node}, nats-server ${machine.nats}, PostgreSQL ${machine.postgres}`);
  for (const stream of ["plain", "files", "rows"]) {
    say(`filling a stream with ${size[stream]} messages of about 200 bytes`);
    await fillStream(link, { stream, count: size[stream], body: event });
  }
  const results = [];
  for (const comparison of comparisons) results.push(await runComparison(comparison, { ...link, url: nats.url, database, folder, size }));
  const latency = await measureLatency({ ...link, url: nats.url, database, folder, seconds: size.latencySeconds });
  say(`filling a stream with ${size.backlog} small messages`);
  await fillStream(link, { stream: "backlog", count: size.backlog, body: smallMessage });
  const rate = results[0].arms["runner, no-op sink"].messagesPerSecond.median;
  const memory = await measureMemory({ url: nats.url, folder, size, messagesPerSecond: rate / 10 });
  return { machine, quick, rounds: size.rounds, comparisons: results, latency, memory };
}

async function runComparison({ name, stream, target, write = null, arms }, { url, database, folder, size, manager }) {
  const names = Object.keys(arms);
  const [first, again] = names;
  const count = size[stream];
  const { created } = await manager.streams.info(stream);
  const settings = { url, stream, count, streamCreatedAt: created, streamCreatedNs: epochNs(created), database: database.url, write };
  const rounds = [];
  const firstRecords = new Set();
  // One round more than is counted: the first one warms the server's caches.
  for (let round = -1; round < size.rounds; round += 1) {
    const measured = {};
    for (const arm of orderOfRound(names, Math.max(round, 0))) {
      const [program, extra] = arms[arm];
      const own = join(folder, "arm");
      await mkdir(own);
      if (write !== null) await database.prepare(write);
      const consumer = `arm-${names.indexOf(arm)}-${round + 1}`;
      measured[arm] = await runArm(program, { ...settings, consumer, folder: own, ...extra });
      await checkSettled(manager, stream, consumer, count);
      if (write !== null) await database.check(write, count);
      if (round < 0) firstRecords.add(await firstRecord(own));
      await rm(own, { recursive: true });
    }
    if (firstRecords.size > 1) throw new Error(`${name}: the arms do not write the same records`);
    if (round >= 0) rounds.push(measured);
    say(`${name}: ${round < 0 ? "warm-up" : `round ${round + 1} of ${size.rounds}`}`);
  }
  const baselineOf = (arm) => (arm === first || arm === again ? [first] : [first, again]);
  const figures = names.map((arm) => [arm, compare(rounds, arm, baselineOf(arm))]);
  return { name, target, messages: count, arms: Object.fromEntries(figures) };
}

/** The server's own word that every message was delivered and acknowledged; the consumer goes afterwards. */
async function checkSettled(manager, stream, consumer, count) {
  const { ack_floor: floor, num_pending: unread, num_ack_pending: unsettled } = await manager.consumers.info(stream, consumer);
  if (floor.stream_seq !== count || unread !== 0 || unsettled !== 0) {
    throw new Error(
      `${consumer} left ${unread} unread and ${unsettled} unsettled messages, acknowledged up to ${floor.stream_seq} of ${count}`,
    );
  }
  await manager.consumers.delete(stream, consumer);
}

/** Nanoseconds since 1970 of the server's time in UTC, as digits. */
function epochNs(text) {
  const [, seconds, fraction = ""] = /^(.*?)(?:\.(\d+))?Z$/.exec(text);
  return `${Date.parse(`${seconds}Z`) / 1000}${fraction.padEnd(9, "0")}`;
}

async function connectTo(url) {
  const { connect } = await importFrom("packages/core", "@nats-io/transport-node");
  const { jetstream, jetstreamManager } = await importFrom("packages/core", "@nats-io/jetstream");
  const connection = await connect({ servers: url });
  const manager = await jetstreamManager(connection);
  return { connection, client: jetstream(connection), manager, [Symbol.asyncDispose]: () => connection.close() };
}

function say(line) {
  process.stderr.write(`${line}\n`);
}

const { values } = parseArgs({ options: { quick: { type: "boolean", default: false }, json: { type: "string" } } });
leaveOnSignals();
try {
  await main(values);
} catch (error) {
  process.stderr.write(`The bench stopped: ${error.message.split("\n")[0]}\n`);
  process.exitCode = 1;
}
