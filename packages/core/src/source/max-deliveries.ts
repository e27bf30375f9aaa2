import type { NatsConnection } from "@nats-io/transport-node";

/** The fields of the server's advisory that say which message it will not deliver again. */
interface MaxDeliveriesAdvisory {
  readonly stream_seq?: unknown;
}

/**
 * Calls back with the stream sequence of every message that has used up its deliveries and will not be sent again
 * (FW-RUN-21). A login that may not subscribe there costs nothing but this watch: the next start looks by itself.
 */
export function watchMaxDeliveries(
  connection: NatsConnection,
  stream: string,
  consumer: string,
  reached: (sequence: number) => void,
): void {
  connection.subscribe(`$JS.EVENT.ADVISORY.CONSUMER.MAX_DELIVERIES.${stream}.${consumer}`, {
    callback: (error, message) => {
      if (error !== null) return;
      const sequence = sequenceOf(message.data);
      if (sequence !== null) reached(sequence);
    },
  });
}

function sequenceOf(data: Uint8Array): number | null {
  try {
    const advisory = JSON.parse(new TextDecoder().decode(data)) as MaxDeliveriesAdvisory | null;
    const sequence = advisory?.stream_seq;
    return typeof sequence === "number" && Number.isSafeInteger(sequence) && sequence > 0 ? sequence : null;
  } catch {
    return null;
  }
}
