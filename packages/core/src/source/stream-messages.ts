import { type JetStreamManager, jetstreamManager } from "@nats-io/jetstream";
import type { Configuration } from "../config/schema.js";
import type { Envelope } from "../envelope/envelope.js";
import { createEnvelopeOrigin } from "../envelope/envelope-origin.js";
import { compileMessageMetadata } from "../envelope/message-metadata.js";
import { parseRfc3339 } from "../envelope/rfc3339.js";
import { SinksError } from "../error/errors.js";
import { AckSubject } from "./ack-subject.js";
import { apiFault, describeApiFault } from "./api-fault.js";
import { apiPrefix, openConnection } from "./connection.js";
import { readStream } from "./consumer.js";
import { envelopeOfStored } from "./delivery.js";

const requestTimeoutMs = 10_000;

/**
 * Reads messages of the pipeline's stream by sequence, each as on its first delivery; null where the stream has none. The
 * secrets of the configuration must be resolved. Takes nothing from the consumer. Rejects as `openConnection` does, and with
 * `ConfigurationError` when there is no stream.
 */
export async function readMessages(
  configuration: Configuration,
  sequences: readonly number[],
  nowNs: () => bigint,
): Promise<readonly (Envelope | null)[]> {
  const connection = await openConnection(configuration);
  try {
    const options = { apiPrefix: apiPrefix(configuration.nats), timeout: requestTimeoutMs, checkAPI: false };
    return await readAll(await jetstreamManager(connection, options), configuration, sequences, nowNs);
  } catch (error) {
    if (error instanceof SinksError) throw error;
    const code = apiFault(error) === "permission" ? "credentials_refused" : "connection_failed";
    throw new SinksError(`nats: messages of the stream cannot be read (${describeApiFault(error)})`, { code, cause: error });
  } finally {
    await connection.close();
  }
}

async function readAll(manager: JetStreamManager, configuration: Configuration, sequences: readonly number[], nowNs: () => bigint) {
  const { nats, idempotency, message_metadata: metadata } = configuration;
  const stream = await readStream(manager, configuration);
  const origin = createEnvelopeOrigin({
    stream: nats.stream,
    consumer: nats.consumer,
    domain: nats.domain,
    account: idempotency.account,
    streamCreatedAt: stream?.created ?? null,
    messageMetadata: compileMessageMetadata(metadata),
  });
  const found: (Envelope | null)[] = [];
  for (const sequence of sequences) {
    const stored = await manager.streams.getMessage(nats.stream, { seq: sequence });
    const position = stored === null ? null : firstDelivery(nats, sequence, stored.timestamp);
    found.push(stored === null || position === null ? null : envelopeOfStored(stored, position, origin, nowNs()));
  }
  return found;
}

/** The reply subject of a first delivery, which says where a message stands. */
function firstDelivery({ stream, consumer }: Configuration["nats"], sequence: number, timestamp: string): AckSubject | null {
  return AckSubject.parse(`$JS.ACK.${stream}.${consumer}.1.${sequence}.1.${parseRfc3339(timestamp) ?? 0n}.0`);
}
