import type { Envelope } from "../envelope/envelope.js";
import { describeMessage } from "../envelope/message-description.js";
import type { ErrorCode } from "../error/codes.js";
import { ValidationError } from "../error/errors.js";

/** The error that rejects one message: it names the place in the configuration and the message, and no value (FW-MAP-04). */
export function rejection(envelope: Envelope, place: string, reason: string, code: ErrorCode): ValidationError {
  const message = describeMessage(envelope.subject, envelope.stream, envelope.streamSequence);
  return new ValidationError(`${place}: ${reason} (${message})`, { code });
}
