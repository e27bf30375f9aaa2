import type { Envelope } from "../envelope/envelope.js";
import { describeMessage } from "../envelope/message-description.js";
import { isSinkError, PermanentSinkError } from "../error/errors.js";

/** What a handler gives for a message: one payload, several in order, or none. */
export type HandlerResult<Payload> = Payload | readonly Payload[] | null | undefined;

/** Code that makes payloads of a message (FW-MAP-08); it may wait for something. */
export type Handler<Payload> = (envelope: Envelope) => HandlerResult<Payload> | Promise<HandlerResult<Payload>>;

/**
 * Runs a handler and gives its payloads as a list. A throw that is not a `SinkError` becomes a `PermanentSinkError` of this
 * message, since repeating the same code on the same message would only throw again.
 */
export async function runHandler<Payload>(handler: Handler<Payload>, envelope: Envelope): Promise<readonly Payload[]> {
  try {
    const result = await handler(envelope);
    if (result === null || result === undefined) return [];
    return Array.isArray(result) ? (result as readonly Payload[]) : [result as Payload];
  } catch (cause) {
    if (isSinkError(cause)) throw cause;
    const message = describeMessage(envelope.subject, envelope.stream, envelope.streamSequence);
    throw new PermanentSinkError(`the handler threw ${cause instanceof Error ? cause.name : typeof cause} (${message})`, {
      code: "handler_failed",
      cause,
    });
  }
}
