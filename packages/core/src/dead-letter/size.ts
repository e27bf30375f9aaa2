import type { StreamLimits } from "../source/dead-letter-port.js";

/** One message of the dead-letter stream. */
export interface DeadLetterMessage {
  readonly body: Uint8Array;
  readonly headers: ReadonlyMap<string, string>;
  /** `Nats-Msg-Id`. */
  readonly id: string;
}

/** What one dead letter may take; infinite where nothing limits it. */
export interface DeadLetterLimits {
  /** Headers and body of one message, in bytes. */
  readonly messageBytes: number;
  /** All its messages together, in bytes of the stream. */
  readonly totalBytes: number;
  readonly messages: number;
}

/** The least of the server's, the stream's and the configured limit (FW-DLQ-05). */
export function deadLetterLimits(maxPayload: number, stream: StreamLimits | null, configured: number | null): DeadLetterLimits {
  const unlimited = Number.POSITIVE_INFINITY;
  return {
    messageBytes: Math.min(maxPayload, stream?.messageBytes ?? unlimited, configured ?? unlimited),
    totalBytes: stream?.totalBytes ?? unlimited,
    messages: stream?.messages ?? unlimited,
  };
}

/** First line and last line break of a header block. */
const blockBytes = "NATS/1.0\r\n\r\n".length;
const idName = "Nats-Msg-Id";
/** A repeat has a suffix more in its id. */
const repeatBytes = 8;
/** What a stream may keep of a message besides the message: lengths, time, checksum, subject. */
const storedBytes = 320;

/** JetStream keeps no larger header block, whatever its limits are. */
const mostHeaderBytes = 65_535;

/** Bytes of a message as the server counts them. */
export function messageBytes({ body, headers, id }: DeadLetterMessage): number {
  let size = blockBytes + lineBytes(idName, id) + repeatBytes + body.length;
  for (const [name, value] of headers) size += lineBytes(name, value);
  return size;
}

/** True when the limits admit these messages together. */
export function fits(messages: readonly DeadLetterMessage[], limits: DeadLetterLimits): boolean {
  if (messages.length > limits.messages) return false;
  let total = 0;
  for (const message of messages) {
    const size = messageBytes(message);
    if (size > limits.messageBytes || size - message.body.length > mostHeaderBytes) return false;
    total += size + storedBytes;
  }
  return total <= limits.totalBytes;
}

function lineBytes(name: string, value: string): number {
  return name.length + Buffer.byteLength(value) + ": \r\n".length;
}
