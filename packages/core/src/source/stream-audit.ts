import { type JetStreamManager, jetstreamManager, type NextMsgRequest, type SeqMsgRequest, type StreamInfo } from "@nats-io/jetstream";
import type { Configuration } from "../config/schema.js";
import { subjectContains } from "../config/subject-grammar.js";
import { ConfigurationError, SinksError } from "../error/errors.js";
import { apiFault, describeApiFault } from "./api-fault.js";
import { apiPrefix, openConnection } from "./connection.js";
import { type ConsumerState, findConsumer, readStream } from "./consumer.js";

const requestTimeoutMs = 10_000;
/** Deleted sequences of a stream that one answer may list. */
const listedDeletions = 100_000;

/** The stream as the server describes it. */
export type StreamState = StreamInfo;

/** Reads a stream and the consumer of a pipeline, and changes neither; disposal closes its connection. */
export interface StreamAudit extends AsyncDisposable {
  /** The stream as it is now; rejects with `ConfigurationError` when there is none. */
  stream(): Promise<StreamState>;
  /** The consumer as it is now; rejects with `ConfigurationError` when there is none. */
  consumer(): Promise<ConsumerState>;
  /** Sequence and time of the first message at or after a sequence that matches a filter; null when there is none. */
  next(filter: string, sequence: number): Promise<{ readonly sequence: number; readonly time: string } | null>;
  /** Sequences that are gone from the middle of the stream; null when they are too many for one answer. */
  deleted(): Promise<{ readonly first: number; readonly last: number; readonly gone: ReadonlySet<number> } | null>;
}

/** Opens an audit with a configuration whose secrets are resolved. Rejects as `openConnection` does. */
export async function openStreamAudit(configuration: Configuration): Promise<StreamAudit> {
  const { stream, consumer } = configuration.nats;
  const connection = await openConnection(configuration);
  try {
    const options = { apiPrefix: apiPrefix(configuration.nats), timeout: requestTimeoutMs, checkAPI: false };
    const manager = await jetstreamManager(connection, options);
    return {
      stream: () => asked("the stream cannot be read", () => streamNow(manager, configuration)),
      consumer: () =>
        asked("the consumer cannot be read", async () => {
          const found = await findConsumer(manager, stream, consumer);
          if (found !== null) return found;
          throw new ConfigurationError(`nats.consumer: there is no consumer "${consumer}" on stream "${stream}"; run the pipeline first`, {
            code: "consumer_missing",
          });
        }),
      next: (filter, sequence) => asked("messages of the stream cannot be read", () => nextMessage(manager, stream, filter, sequence)),
      deleted: () => asked("the stream cannot be read", () => deletedOf(manager, stream)),
      [Symbol.asyncDispose]: () => connection.close(),
    };
  } catch (error) {
    await connection.close();
    throw error;
  }
}

async function asked<Answer>(what: string, ask: () => Promise<Answer>): Promise<Answer> {
  try {
    return await ask();
  } catch (error) {
    if (error instanceof SinksError) throw error;
    const code = apiFault(error) === "permission" ? "credentials_refused" : "connection_failed";
    throw new SinksError(`nats: ${what} (${describeApiFault(error)})`, { code, cause: error });
  }
}

async function streamNow(manager: JetStreamManager, configuration: Configuration): Promise<StreamInfo> {
  const found = await readStream(manager, configuration);
  if (found !== null) return found;
  throw new ConfigurationError(`nats.stream: no permission to read stream "${configuration.nats.stream}"; grant it`, {
    code: "credentials_refused",
  });
}

async function nextMessage(manager: JetStreamManager, stream: string, filter: string, sequence: number) {
  // The client's type leaves out that the server takes both keys here.
  const query: SeqMsgRequest & NextMsgRequest = { seq: sequence, next_by_subj: filter };
  const message = await manager.streams.getMessage(stream, query);
  return message === null ? null : { sequence: message.seq, time: message.timestamp };
}

async function deletedOf(manager: JetStreamManager, stream: string) {
  const { state: before } = await manager.streams.info(stream);
  if ((before.num_deleted ?? 0) > listedDeletions) return null;
  const { state } = await manager.streams.info(stream, { deleted_details: true });
  return { first: state.first_seq, last: state.last_seq, gone: new Set(state.deleted ?? []) };
}

/** True when everything the stream takes is delivered by one of the filters. */
export function coversStream({ config }: StreamInfo, filters: readonly string[]): boolean {
  if (filters.includes(">")) return true;
  const { subjects, subject_transform: transform, mirror, sources } = config;
  // What these bring has subjects that the stream's own list does not name.
  if (transform !== undefined || mirror !== undefined || (sources ?? []).length > 0) return false;
  return (subjects ?? []).every((subject) => filters.some((filter) => subjectContains(filter, subject)));
}
