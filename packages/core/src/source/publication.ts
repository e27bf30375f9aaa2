import { JetStreamApiError, type JetStreamClient, type JetStreamManager } from "@nats-io/jetstream";
import { headers as newHeaders } from "@nats-io/transport-node";
import { DeadLetterError, SizePolicyViolationError } from "../error/errors.js";
import { apiFault, describeApiFault } from "./api-fault.js";

/** The server's word on a publication. */
export interface Publication {
  readonly stream: string;
  /** JetStream domain of that stream; null where the server has none. */
  readonly domain: string | null;
  readonly sequence: number;
  /** The server knew the id already and stored nothing. */
  readonly duplicate: boolean;
}

/** The stream's own limit on one message is exceeded. */
const messageTooLarge = 10054;

/**
 * Publishes to a stream with an id; resolves with the server's acknowledgement. Rejects with `SizePolicyViolationError` when
 * the stream takes no message of this size, and with `DeadLetterError` when no acknowledgement came.
 */
export async function publishWithId(
  client: JetStreamClient,
  subject: string,
  body: Uint8Array,
  headers: ReadonlyMap<string, string>,
  id: string,
  timeoutMs: number,
): Promise<Publication> {
  const natsHeaders = newHeaders();
  for (const [name, value] of headers) natsHeaders.append(name, value);
  try {
    const { stream, domain, seq, duplicate } = await client.publish(subject, body, {
      headers: natsHeaders,
      msgID: id,
      timeout: timeoutMs,
      retries: 1,
    });
    return { stream, domain: domain ?? null, sequence: seq, duplicate };
  } catch (error) {
    const reason = describeApiFault(error);
    if (error instanceof JetStreamApiError && error.code === messageTooLarge) throw new SizePolicyViolationError(reason, { cause: error });
    throw new DeadLetterError(reason, { cause: error });
  }
}

/** Name of the stream that captures a literal subject; null when none does. */
export async function streamOfSubject(manager: JetStreamManager, subject: string): Promise<string | null> {
  try {
    return await manager.streams.find(subject);
  } catch (error) {
    if (apiFault(error) === "stream_missing") return null;
    throw error;
  }
}

/** True when the stream holds a message of this subject and id at this sequence now. */
export async function streamHoldsId(
  manager: JetStreamManager,
  stream: string,
  sequence: number,
  subject: string,
  id: string,
): Promise<boolean> {
  const stored = await manager.streams.getMessage(stream, { seq: sequence });
  return stored !== null && stored.subject === subject && stored.header?.get("Nats-Msg-Id") === id;
}

/** True when the stream holds a message at this sequence now. */
export async function streamHolds(manager: JetStreamManager, stream: string, sequence: number): Promise<boolean> {
  return (await manager.streams.getMessage(stream, { seq: sequence })) !== null;
}

/** Why a stream does not keep what is published to it; null when it does, or when we may not read it. */
export async function keepingFault(manager: JetStreamManager, stream: string): Promise<string | null> {
  try {
    const { config } = await manager.streams.info(stream);
    if (config.retention === "interest") return "keeps messages only while a consumer wants them; use retention limits or workqueue";
    return config.no_ack ? "acknowledges nothing (no_ack); dead letters need an acknowledgement" : null;
  } catch {
    return null;
  }
}
