import { randomBytes } from "node:crypto";
import {
  type ConsumerConfig,
  type ConsumerInfo,
  type JetStreamClient,
  type JetStreamManager,
  jetstream,
  jetstreamManager,
  type StreamConfig,
  type StreamState,
} from "@nats-io/jetstream";
import { connect, type NatsConnection, headers as newHeaders } from "@nats-io/transport-node";
import { type Configuration, validateConfiguration } from "@sinks/core/runtime";
import { eventually } from "../../../src/eventually.js";

type Sections = Readonly<Record<string, unknown>>;

/** What a stage has besides a stream `<name>` over `<name>.in.>`. */
export interface StageOptions {
  readonly stream?: Partial<StreamConfig>;
  /** True for a dead-letter stream `<name>_DEAD` over `<name>.dead`. */
  readonly deadLetters?: boolean;
}

/** One dead letter as the server holds it. */
export interface SeenDeadLetter {
  readonly sequence: number;
  readonly header: (name: string) => string;
  readonly record: Readonly<Record<string, unknown>>;
  readonly text: string;
}

/** A stream of its own on a server, a way to fill it, and the server's word on what became of it. */
export class Stage implements AsyncDisposable {
  readonly name: string;
  readonly connection: NatsConnection;
  readonly manager: JetStreamManager;
  readonly client: JetStreamClient;
  readonly #urls: readonly string[];
  readonly #options: StageOptions;

  private constructor(
    urls: readonly string[],
    connection: NatsConnection,
    manager: JetStreamManager,
    options: StageOptions,
    name?: string,
  ) {
    this.name = name ?? `T${randomBytes(5).toString("hex")}`;
    this.#urls = urls;
    this.connection = connection;
    this.manager = manager;
    this.client = jetstream(connection);
    this.#options = options;
  }

  /** Connects to a server, or to the nodes of a cluster, and makes the streams. */
  static async open(url: string | readonly string[], options: StageOptions = {}): Promise<Stage> {
    const urls = [url].flat();
    const connection = await connect({ servers: urls, reconnectTimeWait: 50, maxReconnectAttempts: -1 });
    const stage = new Stage(urls, connection, await jetstreamManager(connection), options);
    await stage.addStream();
    if (options.deadLetters === true) {
      // On one node alone they would go with it.
      const replicas = { num_replicas: options.stream?.num_replicas ?? 1 };
      await stage.manager.streams.add({ name: `${stage.name}_DEAD`, subjects: [`${stage.name}.dead`], ...replicas });
    }
    return stage;
  }

  /** The same stage over a new connection, for after a restart of the server; disposing either one removes the streams. */
  async reopen(): Promise<Stage> {
    const connection = await connect({ servers: [...this.#urls] });
    return new Stage(this.#urls, connection, await jetstreamManager(connection), this.#options, this.name);
  }

  readonly consumer = "sink";

  /** Makes the stream, at first or again after it was deleted. */
  async addStream(): Promise<void> {
    await this.manager.streams.add({ name: this.name, subjects: [`${this.name}.in.>`], ...this.#options.stream });
  }

  subject(tail: string): string {
    return `${this.name}.in.${tail}`;
  }

  /** Publishes one message and answers its sequence. */
  async publish(tail: string, body: string | Uint8Array, headers: Readonly<Record<string, string>> = {}): Promise<number> {
    const list = newHeaders();
    for (const [name, value] of Object.entries(headers)) list.append(name, value);
    return (await this.client.publish(this.subject(tail), body, { headers: list })).seq;
  }

  /** Publishes `count` small messages in order; `tail` may depend on the index, from 0. */
  async fill(count: number, tail: (index: number) => string = () => "a"): Promise<void> {
    const chunk = 500;
    for (let from = 0; from < count; from += chunk) {
      const indexes = Array.from({ length: Math.min(chunk, count - from) }, (_, offset) => from + offset);
      await Promise.all(indexes.map((index) => this.client.publish(this.subject(tail(index)), `{"n":${index}}`)));
    }
  }

  /** A valid configuration for this stage; sections given are laid over quick defaults. */
  configuration(sections: Sections = {}): Configuration {
    const over = (name: string): Sections => (sections[name] ?? {}) as Sections;
    const deadLetter = this.#options.deadLetters === true ? { enabled: true, subject: `${this.name}.dead` } : {};
    return validateConfiguration({
      ...sections,
      nats: {
        ...(this.#urls.length === 1 ? { url: this.#urls[0] } : { urls: this.#urls }),
        stream: this.name,
        consumer: this.consumer,
        subject: `${this.name}.in.>`,
        reconnect_time_wait_seconds: 0.05,
        ...over("nats"),
      },
      sink: { type: "recording" },
      delivery: {
        batch_timeout_ms: 500,
        retry_backoff_ms: 20,
        retry_backoff_max_ms: 200,
        retry_jitter: "none",
        shutdown_timeout_ms: 10_000,
        abort_grace_ms: 1000,
        start_timeout_ms: 10_000,
        ...over("delivery"),
      },
      dead_letter: { ...deadLetter, ...over("dead_letter") },
    });
  }

  /** Makes the runner's consumer in advance. */
  async addConsumer(config: Partial<ConsumerConfig> = {}): Promise<ConsumerInfo> {
    const base = { durable_name: this.consumer, ack_policy: "explicit", filter_subject: `${this.name}.in.>` } as const;
    return this.manager.consumers.add(this.name, { ...base, ...config });
  }

  consumerInfo(): Promise<ConsumerInfo> {
    return this.manager.consumers.info(this.name, this.consumer);
  }

  async streamState(): Promise<StreamState> {
    return (await this.manager.streams.info(this.name, { deleted_details: true })).state;
  }

  /** Waits until the server holds everything of the stream delivered and acknowledged. */
  async settled(deadlineMs = 20_000): Promise<ConsumerInfo> {
    return eventually(
      async () => {
        const info = await this.consumerInfo();
        return info.num_pending === 0 && info.num_ack_pending === 0 && info.delivered.stream_seq > 0 ? info : null;
      },
      { deadlineMs, what: `everything of ${this.name} to be acknowledged` },
    );
  }

  /** Every dead letter the server holds, in order. */
  async deadLetters(): Promise<SeenDeadLetter[]> {
    const { state } = await this.manager.streams.info(`${this.name}_DEAD`);
    const found: SeenDeadLetter[] = [];
    for (let sequence = Math.max(1, state.first_seq); sequence <= state.last_seq; sequence += 1) {
      const stored = await this.manager.streams.getMessage(`${this.name}_DEAD`, { seq: sequence });
      if (stored === null) continue;
      const text = stored.string();
      found.push({ sequence, header: (name) => stored.header.get(name), record: JSON.parse(text) as Record<string, unknown>, text });
    }
    return found;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.connection.isClosed()) {
      await Promise.all([this.name, `${this.name}_DEAD`].map((stream) => this.manager.streams.delete(stream).catch(() => undefined)));
      await this.connection.close();
    }
  }
}
