import { type JetStreamManager, jetstreamManager, type NextMsgRequest, type SeqMsgRequest, type StoredMsg } from "@nats-io/jetstream";
import type { NatsConnection } from "@nats-io/transport-node";
import type { Configuration } from "../config/schema.js";
import { ConfigurationError, SinksError } from "../error/errors.js";
import { apiFault, describeApiFault } from "./api-fault.js";
import { deadLetterApiPrefix, openConnection } from "./connection.js";

const requestTimeoutMs = 5000;

/** A message of the dead-letter stream. */
export interface StoredDeadLetter {
  /** Sequence in the dead-letter stream. */
  readonly sequence: number;
  readonly subject: string;
  /** When the server stored it, RFC 3339. */
  readonly time: string;
  /** First value of a header, or null. */
  readonly header: (name: string) => string | null;
  /** Every header with its first value, in order. */
  readonly headers: () => Iterable<readonly [string, string]>;
  readonly data: Uint8Array;
}

/** The stream that takes the dead letters of one configuration; disposal closes its connection. */
export interface DeadLetterStore extends AsyncDisposable {
  /** `dead_letter.subject`. */
  readonly subject: string;
  /** The first message on a subject at or after a sequence; null when there is none. */
  next(subject: string, sequence: number): Promise<StoredDeadLetter | null>;
  /** The message at a sequence; null when there is none. */
  read(sequence: number): Promise<StoredDeadLetter | null>;
}

/** An open connection, and the stream on it that takes the dead letters. */
export interface OpenDeadLetters {
  readonly connection: NatsConnection;
  /** The API of the domain that holds them. */
  readonly manager: JetStreamManager;
  readonly stream: string;
  readonly subject: string;
}

/**
 * Opens the dead-letter stream of a configuration whose secrets are resolved. Rejects with `ConfigurationError` when dead
 * letters are off or no stream takes them, otherwise as `openConnection` does.
 */
export async function openDeadLetterStore(configuration: Configuration): Promise<DeadLetterStore> {
  return deadLetterStore(await openDeadLetters(configuration));
}

/** Connects and finds the stream; rejects as `openDeadLetterStore` does. */
export async function openDeadLetters(configuration: Configuration): Promise<OpenDeadLetters> {
  const { enabled, subject } = configuration.dead_letter;
  if (!enabled || subject === null) {
    throw new ConfigurationError(
      "dead_letter.enabled: dead letters are off, there is nothing to read; set it to true and name dead_letter.subject",
    );
  }
  const connection = await openConnection(configuration);
  try {
    const apiPrefix = deadLetterApiPrefix(configuration);
    const manager = await jetstreamManager(connection, { apiPrefix, timeout: requestTimeoutMs, checkAPI: false });
    const stream = configuration.dead_letter.stream ?? (await findStream(manager, subject));
    return { connection, manager, stream, subject };
  } catch (error) {
    await connection.close();
    throw error;
  }
}

/** Reads what is open, and closes it when disposed. */
export function deadLetterStore({ connection, manager, stream, subject }: OpenDeadLetters): DeadLetterStore {
  return {
    subject,
    next(filter, sequence) {
      // The client's type leaves out that the server takes both keys here.
      const query: SeqMsgRequest & NextMsgRequest = { seq: sequence, next_by_subj: filter };
      return getMessage(manager, stream, query);
    },
    read: (sequence) => getMessage(manager, stream, { seq: sequence }),
    [Symbol.asyncDispose]: () => connection.close(),
  };
}

async function findStream(manager: JetStreamManager, subject: string): Promise<string> {
  try {
    for await (const name of manager.streams.names(subject)) return name;
  } catch (error) {
    throw readFault(error, "the streams cannot be listed");
  }
  throw new ConfigurationError(`dead_letter.subject: no stream takes "${subject}"; create one, or correct the subject`, {
    code: "stream_missing",
  });
}

async function getMessage(manager: JetStreamManager, stream: string, query: SeqMsgRequest): Promise<StoredDeadLetter | null> {
  try {
    const message = await manager.streams.getMessage(stream, query);
    return message === null ? null : storedDeadLetter(message);
  } catch (error) {
    throw readFault(error, `dead letters of stream "${stream}" cannot be read`);
  }
}

/** @internal */
export function readFault(error: unknown, what: string): SinksError {
  if (apiFault(error) === "stream_missing") {
    return new ConfigurationError(`dead_letter.stream: ${what}: it does not exist`, { code: "stream_missing", cause: error });
  }
  return new SinksError(`dead_letter: ${what} (${describeApiFault(error)})`, { code: "connection_failed", cause: error });
}

/** @internal */
export function storedDeadLetter(message: StoredMsg): StoredDeadLetter {
  return {
    sequence: message.seq,
    subject: message.subject,
    time: message.timestamp,
    header: (name) => (message.header.has(name) ? message.header.get(name) : null),
    headers: () => message.header.keys().map((name) => [name, message.header.get(name)] as const),
    data: message.data,
  };
}
