import { type JetStreamManager, jetstream, jetstreamManager } from "@nats-io/jetstream";
import type { Configuration } from "../config/schema.js";
import { apiFault } from "./api-fault.js";
import { apiPrefix } from "./connection.js";
import {
  type DeadLetterStore,
  deadLetterStore,
  openDeadLetters,
  readFault,
  type StoredDeadLetter,
  storedDeadLetter,
} from "./dead-letter-store.js";
import { type Publication, publishWithId, streamOfSubject } from "./publication.js";

const timeoutMs = 5000;

/** A message that is named by the incarnation of its stream: a stream made again has other messages at the same sequences. */
export interface OriginalPlace {
  readonly stream: string;
  readonly sequence: number;
  /** RFC 3339, as the server gave it; null when it was not known. */
  readonly streamCreatedAt: string | null;
}

/** A dead-letter store from which messages are put back. */
export interface ReplayStore extends DeadLetterStore {
  /** The stream that takes the dead letters. */
  readonly stream: string;
  /** Its last sequence now. */
  lastSequence(): Promise<number>;
  /** The stream that takes a subject in the domain of the dead letters; null when none does. */
  streamOf(subject: string): Promise<string | null>;
  publish(subject: string, body: Uint8Array, headers: ReadonlyMap<string, string>, id: string): Promise<Publication>;
  /** The original, where its stream still has it; null otherwise. */
  original(place: OriginalPlace): Promise<StoredDeadLetter | null>;
}

/** Opens the dead letters of a configuration for replay; rejects as `openDeadLetterStore` does. */
export async function openReplayStore(configuration: Configuration): Promise<ReplayStore> {
  const open = await openDeadLetters(configuration);
  const { connection, manager, stream } = open;
  const prefix = apiPrefix(configuration.nats);
  const client = jetstream(connection, { apiPrefix: prefix, timeout: timeoutMs });
  const originals = await jetstreamManager(connection, { apiPrefix: prefix, timeout: timeoutMs, checkAPI: false });
  return {
    ...deadLetterStore(open),
    stream,
    async lastSequence() {
      try {
        return (await manager.streams.info(stream)).state.last_seq;
      } catch (error) {
        throw readFault(error, `stream "${stream}" cannot be read`);
      }
    },
    streamOf: (subject) => streamOfSubject(manager, subject),
    publish: (subject, body, headers, id) => publishWithId(client, subject, body, headers, id, timeoutMs),
    original: (place) => readOriginal(originals, place),
  };
}

async function readOriginal(manager: JetStreamManager, place: OriginalPlace): Promise<StoredDeadLetter | null> {
  try {
    const { created } = await manager.streams.info(place.stream);
    if (place.streamCreatedAt !== null && created !== place.streamCreatedAt) return null;
    const message = await manager.streams.getMessage(place.stream, { seq: place.sequence });
    return message === null ? null : storedDeadLetter(message);
  } catch (error) {
    if (apiFault(error) === "stream_missing") return null;
    throw readFault(error, "an original cannot be read");
  }
}
