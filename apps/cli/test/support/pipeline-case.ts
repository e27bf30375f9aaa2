import path from "node:path";
import { type JetStreamManager, type JsMsg, jetstream, jetstreamManager, type StreamConfig } from "@nats-io/jetstream";
import { connect, headers } from "@nats-io/transport-node";
import { eventually, type NatsServer } from "@sinks/testing/services";
import { type CliOptions, type CliProcess, type CliResult, runCli, startCli } from "./cli-process.js";
import { makeProject, type Project } from "./project.js";
import { settings } from "./settings.js";
import { storedSequences } from "./stored-records.js";

/** A message to publish. */
export interface Publication {
  readonly subject: string;
  readonly body?: string | Uint8Array;
  readonly id?: string;
}

/** A project, streams of its own on a server, and the command run in it. */
export interface PipelineCase extends AsyncDisposable {
  readonly project: Project;
  readonly manager: JetStreamManager;
  readonly stream: string;
  /** Subjects of the stream start with this. */
  readonly prefix: string;
  readonly deadLetters: { readonly stream: string; readonly subject: string };
  /** Writes a configuration for this stream; sections are merged over it. */
  configure(sections?: Readonly<Record<string, object>>): Promise<string>;
  publish(publications: readonly Publication[]): Promise<number[]>;
  /** Deletes the stream and makes it anew with these settings. */
  remakeStream(config: Partial<StreamConfig>): Promise<void>;
  /** Takes messages from the pipeline's consumer, as another client would, and settles none. */
  fetch(count: number): Promise<readonly JsMsg[]>;
  untilConsumer(): Promise<void>;
  /** Waits for records below the folder `out`. */
  untilStored(count: number): Promise<void>;
  run(...commandLine: string[]): Promise<CliResult>;
  start(...commandLine: string[]): CliProcess;
}

let cases = 0;

/** Makes a case with a stream and a dead-letter stream whose names no other case has. */
export async function pipelineCase(
  nats: NatsServer,
  login: { readonly user?: string; readonly pass?: string } = {},
): Promise<PipelineCase> {
  cases += 1;
  const mark = `${process.pid}-${cases}`;
  const connection = await connect({ servers: nats.url, ...login });
  const manager = await jetstreamManager(connection);
  const client = jetstream(connection);
  const project = await makeProject();
  const stream = `CLI-${mark}`;
  const prefix = `cli-${mark}`;
  const deadLetters = { stream: `DLQ-${mark}`, subject: `dlq-${mark}.sink` };
  await manager.streams.add({ name: stream, subjects: [`${prefix}.>`] });
  await manager.streams.add({ name: deadLetters.stream, subjects: [`dlq-${mark}.>`] });
  const options: CliOptions = { workingDirectory: project.folder };
  return {
    project,
    manager,
    stream,
    prefix,
    deadLetters,
    configure(sections = {}) {
      const base = settings({ nats: { url: nats.url, stream, consumer: "sink", subject: `${prefix}.>` } });
      const merged = Object.fromEntries(
        Object.entries({ ...base, ...sections }).map(([name, section]) => [
          name,
          name === "sink" ? section : { ...base[name], ...section },
        ]),
      );
      return project.file("sinks.json", merged);
    },
    publish: (publications) =>
      Promise.all(
        publications.map(async ({ subject, body = "{}", id }) => {
          const head = headers();
          if (id !== undefined) head.set("Nats-Msg-Id", id);
          return (await client.publish(subject, body, { headers: head })).seq;
        }),
      ),
    async remakeStream(config) {
      await manager.streams.delete(stream);
      await manager.streams.add({ name: stream, subjects: [`${prefix}.>`], ...config });
    },
    async fetch(count) {
      const consumer = await client.consumers.get(stream, "sink");
      const taken: JsMsg[] = [];
      for await (const message of await consumer.fetch({ max_messages: count, expires: 5000 })) taken.push(message);
      return taken;
    },
    async untilConsumer() {
      const made = () =>
        manager.consumers.info(stream, "sink").then(
          () => true,
          () => false,
        );
      await eventually(made, { deadlineMs: 20_000, what: "the consumer to be made" });
    },
    async untilStored(count) {
      const folder = path.join(project.folder, "out");
      await eventually(async () => (await storedSequences(folder)).size >= count, { deadlineMs: 20_000, what: `${count} stored records` });
    },
    run: (...commandLine) => runCli(commandLine, options),
    start: (...commandLine) => startCli(commandLine, options),
    async [Symbol.asyncDispose]() {
      await manager.streams.delete(stream).catch(() => undefined);
      await manager.streams.delete(deadLetters.stream).catch(() => undefined);
      await connection.close();
      await project[Symbol.asyncDispose]();
    },
  };
}

/** Waits until a running command has logged a text. */
export function logged(cli: CliProcess, text: string): Promise<boolean> {
  return eventually(
    () => {
      if (!cli.running()) throw new Error(`the command ended: ${cli.stderr()}`);
      return cli.stderr().includes(text);
    },
    { deadlineMs: 20_000, what: `the log to hold ${JSON.stringify(text)}` },
  );
}
