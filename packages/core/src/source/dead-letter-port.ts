import { type JetStreamManager, jetstreamManager } from "@nats-io/jetstream";
import type { Configuration } from "../config/schema.js";
import { apiFault } from "./api-fault.js";
import { deadLetterApiPrefix } from "./connection.js";
import type { Link } from "./link.js";
import { type Publication, publishWithId, streamHoldsId, streamOfSubject } from "./publication.js";

const publishTimeoutMs = 5000;
const requestTimeoutMs = 5000;

/** What a stream allows; null where it sets no limit. */
export interface StreamLimits {
  /** Headers and body of one message, in bytes. */
  readonly messageBytes: number | null;
  /** All messages together, in bytes. */
  readonly totalBytes: number | null;
  /** Messages of one subject. */
  readonly messages: number | null;
}

/** What publishing a dead letter needs of the source. */
export interface DeadLetterPort {
  publish(subject: string, body: Uint8Array, headers: ReadonlyMap<string, string>, id: string): Promise<Publication>;
  /** The stream that captures the subject, or null. */
  streamOf(subject: string): Promise<string | null>;
  /** What the stream allows; null when we may not ask. */
  limitsOf(stream: string): Promise<StreamLimits | null>;
  /** True when the stream holds an entry of this subject and id at this sequence. */
  holds(stream: string, sequence: number, subject: string, id: string): Promise<boolean>;
  /** Largest message the server takes, in bytes. */
  maxPayload(): number;
}

/** Publishes over whatever link is open at the time; asks about streams in the domain of the dead letters (FW-DLQ-11). */
export function deadLetterPort(configuration: Configuration, linkNow: () => Link): DeadLetterPort {
  const managers = new WeakMap<Link, Promise<JetStreamManager>>();
  const manager = (): Promise<JetStreamManager> => {
    const link = linkNow();
    const known = managers.get(link);
    if (known !== undefined) return known;
    const made = deadLetterManager(configuration, link);
    managers.set(link, made);
    return made;
  };
  return {
    publish: (subject, body, headers, id) => publishWithId(linkNow().client, subject, body, headers, id, publishTimeoutMs),
    streamOf: async (subject) => streamOfSubject(await manager(), subject),
    limitsOf: async (stream) => streamLimits(await manager(), stream),
    holds: async (stream, sequence, subject, id) => streamHoldsId(await manager(), stream, sequence, subject, id),
    maxPayload: () => linkNow().connection.info?.max_payload ?? linkNow().maxPayload,
  };
}

/** The API of the domain that holds the dead letters; the pipeline's own unless `dead_letter.domain` names another. */
export async function deadLetterManager(configuration: Configuration, link: Link): Promise<JetStreamManager> {
  if (configuration.dead_letter.domain === null) return link.manager;
  return jetstreamManager(link.connection, {
    apiPrefix: deadLetterApiPrefix(configuration),
    timeout: requestTimeoutMs,
    checkAPI: false,
  });
}

async function streamLimits(manager: JetStreamManager, stream: string): Promise<StreamLimits | null> {
  try {
    const { config } = await manager.streams.info(stream);
    const perSubject = limit(config.max_msgs_per_subject);
    const all = limit(config.max_msgs);
    return {
      messageBytes: limit(config.max_msg_size),
      totalBytes: limit(config.max_bytes),
      messages: perSubject === null ? all : Math.min(perSubject, all ?? perSubject),
    };
  } catch (error) {
    const fault = apiFault(error);
    if (fault === "permission" || fault === "refused") return null;
    throw error;
  }
}

function limit(value: number | undefined): number | null {
  return value !== undefined && value > 0 ? value : null;
}
