import { type JetStreamManager, type NextMsgRequest, type SeqMsgRequest, type StoredMsg, jetstreamManager } from "@nats-io/jetstream";
import type { NatsConnection } from "@nats-io/transport-node";
import type { Configuration } from "../config/schema.js";
import { ConfigurationError, SinksError } from "../error/errors.js";
import { type DeadLetterEntry, type StoredDeadLetter, decodeDeadLetter, decodeDoneMarker, doneSubject } from "../runner/dead-letter-entry.js";
import { type DeadLetterPage, type DeadLetterPageRequest, type NextDeadLetter, listDeadLetters, walkDeadLetters } from "../runner/dead-letter-list.js";
import { apiFault, describeApiFault } from "./api-fault.js";
import { apiPrefix, openConnection } from "./connection.js";

const requestTimeoutMs = 5000;

/** Reads the dead letters of one configuration; disposal closes its connection. */
export interface DeadLetterReader extends AsyncDisposable {
  /** One page, oldest first, repeats of one message shown once (FW-CLI-11). */
  list(request: DeadLetterPageRequest): Promise<DeadLetterPage>;
  /** Sequences of dead letters that are marked as dealt with, among those asked for. */
  done(sequences: ReadonlySet<number>): Promise<ReadonlySet<number>>;
  /** One entry with its payload; null when the dead-letter stream has none at this sequence. */
  read(sequence: number): Promise<DeadLetterEntry | null>;
}

/**
 * Opens a reader on `dead_letter` of a configuration whose secrets are resolved. Rejects with `ConfigurationError` when
 * dead letters are off or no stream takes them, otherwise as `openConnection` does.
 */
export async function openDeadLetterReader(configuration: Configuration): Promise<DeadLetterReader> {
  const { enabled, subject } = configuration.dead_letter;
  if (!enabled || subject === null) {
    throw new ConfigurationError("dead_letter.enabled: dead letters are off, there is nothing to read; set it to true and name dead_letter.subject");
  }
  const connection = await openConnection(configuration);
  try {
    const manager = await jetstreamManager(connection, { apiPrefix: apiPrefix(configuration.nats), timeout: requestTimeoutMs, checkAPI: false });
    const stream = configuration.dead_letter.stream ?? (await findStream(manager, subject));
    return createReader(connection, manager, stream, subject);
  } catch (error) {
    await connection.close();
    throw error;
  }
}

async function findStream(manager: JetStreamManager, subject: string): Promise<string> {
  try {
    for await (const name of manager.streams.names(subject)) return name;
  } catch (error) {
    throw readFault(error, "the streams cannot be listed");
  }
  throw new ConfigurationError(`dead_letter.subject: no stream takes "${subject}"; create one, or correct the subject`, { code: "stream_missing" });
}

function createReader(connection: NatsConnection, manager: JetStreamManager, stream: string, subject: string): DeadLetterReader {
  const next =
    (filter: string): NextDeadLetter =>
    async (sequence) => {
      // The client's type leaves out that the server takes both keys here.
      const query: SeqMsgRequest & NextMsgRequest = { seq: sequence, next_by_subj: filter };
      return storedDeadLetter(await getMessage(manager, stream, query));
    };
  return {
    list: (request) => listDeadLetters(next(subject), request),
    async done(sequences) {
      const found = new Set<number>();
      for await (const marker of walkDeadLetters(next(doneSubject(subject)), 1)) {
        const sequence = decodeDoneMarker(marker.data);
        if (sequence !== null && sequences.has(sequence)) found.add(sequence);
      }
      return found;
    },
    async read(sequence) {
      const stored = storedDeadLetter(await getMessage(manager, stream, { seq: sequence }));
      return stored === null || stored.subject !== subject ? null : decodeDeadLetter(stored);
    },
    [Symbol.asyncDispose]: () => connection.close(),
  };
}

async function getMessage(manager: JetStreamManager, stream: string, query: SeqMsgRequest): Promise<StoredMsg | null> {
  try {
    return await manager.streams.getMessage(stream, query);
  } catch (error) {
    throw readFault(error, `dead letters of stream "${stream}" cannot be read`);
  }
}

function readFault(error: unknown, what: string): SinksError {
  if (apiFault(error) === "stream_missing") {
    return new ConfigurationError(`dead_letter.stream: ${what}: it does not exist`, { code: "stream_missing", cause: error });
  }
  return new SinksError(`dead_letter: ${what} (${describeApiFault(error)})`, { code: "connection_failed", cause: error });
}

function storedDeadLetter(message: StoredMsg | null): StoredDeadLetter | null {
  if (message === null) return null;
  return {
    sequence: message.seq,
    subject: message.subject,
    time: message.timestamp,
    header: (name) => (message.header.has(name) ? message.header.get(name) : null),
    data: message.data,
  };
}
