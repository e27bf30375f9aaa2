import { type JetStreamManager, jetstreamManager } from "@nats-io/jetstream";
import { type MsgHdrs, headers as newHeaders } from "@nats-io/transport-node";
import type { Configuration } from "../config/schema.js";
import { apiFault, describeApiFault } from "./api-fault.js";
import { apiPrefix, deadLetterApiPrefix, openConnection } from "./connection.js";
import { type ConsumerState, findConsumer, type ServerFeatures, serverFeatures } from "./consumer.js";
import { LoginRights, updateRequest } from "./login-rights.js";
import { streamOfSubject } from "./publication.js";
import type { StreamState } from "./stream-audit.js";

const requestTimeoutMs = 5000;

/** What the server said: an answer, or why there is none. */
export type Answer<Value> =
  | { readonly kind: "answer"; readonly value: Value }
  | { readonly kind: "missing" }
  | { readonly kind: "denied" }
  | { readonly kind: "silent"; readonly reason: string };

/** Looks at a server on behalf of a pipeline, and changes nothing; disposal closes its connection. */
export interface Examination extends AsyncDisposable {
  readonly features: ServerFeatures;
  /** Largest message the server takes, in bytes. */
  readonly maxPayload: number;
  stream(): Promise<Answer<StreamState>>;
  consumer(): Promise<Answer<ConsumerState>>;
  /** A stream by name, where the dead letters are. */
  deadLetterStream(name: string): Promise<Answer<StreamState>>;
  /** Name of the stream that captures the dead letters. */
  deadLetterStreamOf(subject: string): Promise<Answer<string>>;
  /** Whether a stream of the pipeline's own domain captures a subject. */
  isCaptured(subject: string): Promise<Answer<boolean>>;
  /** Whether the dead-letter subject may be published to; a stream refuses what is sent, so that nothing is stored. */
  mayPublish(subject: string): Promise<boolean>;
  /** Whether deliveries of the consumer may be asked for; the server refuses what is sent as malformed. */
  mayPull(): Promise<boolean>;
  /** Whether deliveries of the consumer may be acknowledged; what is sent names no delivery. */
  maySettle(): Promise<boolean>;
  mayReadMessages(): Promise<boolean>;
  /** Whether a consumer may be updated; the server refuses what is sent as malformed. */
  mayUpdate(consumer: ConsumerState): Promise<boolean>;
  maySubscribe(subject: string): Promise<boolean>;
}

/** Opens an examination with a configuration whose secrets are resolved. Rejects as `openConnection` does. */
export async function openExamination(configuration: Configuration): Promise<Examination> {
  const { nats } = configuration;
  const connection = await openConnection(configuration);
  try {
    const options = { timeout: requestTimeoutMs, checkAPI: false };
    const manager = await jetstreamManager(connection, { ...options, apiPrefix: apiPrefix(nats) });
    const deadLetters = await jetstreamManager(connection, { ...options, apiPrefix: deadLetterApiPrefix(configuration) });
    const rights = new LoginRights(connection, nats);
    return {
      features: serverFeatures(connection.info?.version ?? "0.0.0"),
      maxPayload: connection.info?.max_payload ?? 1_048_576,
      stream: () => answered(() => manager.streams.info(nats.stream)),
      consumer: () => answered(() => findConsumer(manager, nats.stream, nats.consumer)),
      deadLetterStream: (name) => answered(() => deadLetters.streams.info(name)),
      deadLetterStreamOf: (subject) => answered(() => streamOfSubject(deadLetters, subject)),
      isCaptured: (subject) => answered(() => captured(manager, subject)),
      mayPublish: (subject) => rights.mayPublish(subject, "", refusedByStreams()),
      mayPull: () => rights.mayPull(),
      maySettle: () => rights.maySettle(),
      mayReadMessages: () => rights.mayPublish(`${apiPrefix(nats)}.STREAM.MSG.GET.${nats.stream}`, "{"),
      mayUpdate: (consumer) => rights.mayPublish(`${apiPrefix(nats)}.${updateRequest(consumer)}`, "{"),
      maySubscribe: (subject) => rights.maySubscribe(subject),
      [Symbol.asyncDispose]: () => connection.close(),
    };
  } catch (error) {
    await connection.close();
    throw error;
  }
}

async function answered<Value>(ask: () => Promise<Value | null>): Promise<Answer<Value>> {
  try {
    const value = await ask();
    return value === null ? { kind: "missing" } : { kind: "answer", value };
  } catch (error) {
    const fault = apiFault(error);
    if (fault === "permission") return { kind: "denied" };
    return fault === "stream_missing" || fault === "consumer_missing"
      ? { kind: "missing" }
      : { kind: "silent", reason: describeApiFault(error) };
  }
}

async function captured(manager: JetStreamManager, subject: string): Promise<boolean> {
  for await (const _name of manager.streams.names(subject)) return true;
  return false;
}

/** No stream has this name, so each refuses the message that expects it. */
function refusedByStreams(): MsgHdrs {
  const headers = newHeaders();
  headers.set("Nats-Expected-Stream", "sinks.doctor.stores.nothing");
  return headers;
}
