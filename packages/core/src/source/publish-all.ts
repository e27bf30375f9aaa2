import type { NatsConnection } from "@nats-io/transport-node";

/** The client's own way to send protocol text; used where it exists, because `publish` costs a check and two buffers each time. */
interface CommandSender {
  readonly protocol?: { sendCommand?(command: string): void };
}

/**
 * Publishes `body` (ASCII) to each subject, in order: a batch of acks in one write. The subjects came from the server as
 * tokens, so they hold no white space. Throws when the connection is closed.
 */
export function publishAll(connection: NatsConnection, subjects: readonly string[], body: string): void {
  const { protocol } = connection as NatsConnection & CommandSender;
  if (subjects.length < 2 || connection.isClosed() || connection.isDraining() || protocol?.sendCommand === undefined) {
    for (const subject of subjects) connection.publish(subject, body);
    return;
  }
  const end = ` ${body.length}\r\n${body}\r\n`;
  protocol.sendCommand(`PUB ${subjects.join(`${end}PUB `)}${end}`);
}
