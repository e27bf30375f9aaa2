/**
 * The demo: a private nats-server, 20,000 events, the real `sinks` command with a real configuration. The command is
 * killed half-way and started again; then everything that was stored is read back and accounted for. Exit 1 unless
 * every message is found.
 */
import { mkdir, rm, writeFile } from "node:fs/promises";
import { join, relative } from "node:path";
import { importBuilt, importFrom, root } from "../built.mjs";
import { leaveOnSignals } from "../leave-on-signals.mjs";
import { withResource } from "../with-resource.mjs";
import { account, faultsOf } from "./account.mjs";
import { configuration } from "./configuration.mjs";
import { progressLine } from "./progress-line.mjs";
import { publishEvents } from "./publish.mjs";
import { readDeadLetters, readSegments } from "./read-back.mjs";
import { runCommand, runKilledHalfWay } from "./run-command.mjs";

const count = 20_000;
const folder = join(root, ".cache", "demo");
const files = join(folder, "files");
const configurationFile = join(folder, "sinks.yaml");
const output = process.stdout;

async function main() {
  const { startNats } = await importBuilt("packages/testing/dist/services.js");
  return withResource(await startNats({ ownServer: true }), async (nats) => {
    output.write(`nats-server ${nats.version} on ${nats.url} (${nats.origin})\n`);
    return withResource(await connectStream(nats.url), (stream) => show(nats.url, stream));
  });
}

async function show(url, stream) {
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  await writeFile(configurationFile, configuration({ url, files }));

  const publishing = progressLine(output, "publishing", count);
  const { published, repeats } = await publishEvents(stream.client, stream.makeHeaders, count, publishing.show);
  publishing.end("in the stream");

  const first = await runKilledHalfWay({ configurationFile, folder, stream, total: count, output });
  const second = await runCommand({ configurationFile, folder, stream, total: count, output });
  const { records, files: fileCount } = await readSegments(files);
  const figures = account(published, records, await readDeadLetters(stream.manager, "DEAD"));
  const { num_pending: unread, num_ack_pending: unsettled } = await stream.manager.consumers.info("EVENTS", "demo");

  printTable({ figures, repeats, rate: first.rate, fileCount });
  const faults = faultsOf(figures, 1);
  if (second.code !== 0) faults.push(`the second run ended with code ${second.code}: ${second.lastLine}`);
  if (unread + unsettled > 0) faults.push(`the consumer still has ${unread} unread and ${unsettled} unsettled messages`);
  for (const fault of faults) process.stderr.write(`fault: ${fault}\n`);
  return faults.length === 0 ? 0 : 1;
}

async function connectStream(url) {
  const { connect, headers } = await importFrom("packages/testing", "@nats-io/transport-node");
  const { jetstream, jetstreamManager } = await importFrom("packages/testing", "@nats-io/jetstream");
  const connection = await connect({ servers: url });
  const manager = await jetstreamManager(connection);
  await manager.streams.add({ name: "EVENTS", subjects: ["events.>"], storage: "file" });
  await manager.streams.add({ name: "DEAD", subjects: ["dead.>"], storage: "file" });
  const makeHeaders = (fields) => {
    const made = headers();
    for (const [name, value] of Object.entries(fields)) made.set(name, value);
    return made;
  };
  return { client: jetstream(connection), manager, makeHeaders, [Symbol.asyncDispose]: () => connection.close() };
}

function printTable({ figures, repeats, rate, fileCount }) {
  const number = (value) => value.toLocaleString("en-US");
  const shown = (path) => relative(process.cwd(), path) || ".";
  const rows = [
    ["published", number(figures.published), "distinct messages that the stream confirmed"],
    ["stored", number(figures.stored), "read back from the files, bodies compared"],
    ["dead-lettered", number(figures.deadLettered), "a priority with a control character; in the stream DEAD with its reason"],
    ["duplicates", number(figures.duplicates), "records written again after the kill; readers go by key"],
    ["publisher repeats", number(repeats), "recognised by the stream, stored once"],
    ["missing", number(figures.missing.length), "must be 0"],
    ["messages per second", number(Math.round(rate)), "from the start of the pipeline to the kill"],
    ["files", number(fileCount), shown(files)],
    ["configuration", "", shown(configurationFile)],
    ["output of the runs", "", shown(join(folder, "run-*.log"))],
  ];
  output.write("\n");
  for (const [name, value, remark] of rows) output.write(`  ${name.padEnd(20)} ${value.padStart(8)}   ${remark}\n`);
  output.write("\n");
}

leaveOnSignals();
try {
  process.exitCode = await main();
} catch (error) {
  // One line for a reader: the rest of a launcher's error lists every place that was searched.
  process.stderr.write(`The demo stopped: ${error.message.split("\n")[0]}\n`);
  process.exitCode = 1;
}
