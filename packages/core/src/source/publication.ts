import type { JetStreamClient, JetStreamManager } from "@nats-io/jetstream";
import { headers as newHeaders } from "@nats-io/transport-node";
import { apiFault } from "./api-fault.js";

/** The server's word on a publication. */
export interface Publication {
  readonly stream: string;
  readonly sequence: number;
  /** The server knew the id already and stored nothing. */
  readonly duplicate: boolean;
}

/** Publishes to a stream with an id; resolves with the server's acknowledgement, rejects when none came. */
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
  const acknowledgement = await client.publish(subject, body, { headers: natsHeaders, msgID: id, timeout: timeoutMs, retries: 1 });
  return { stream: acknowledgement.stream, sequence: acknowledgement.seq, duplicate: acknowledgement.duplicate };
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
