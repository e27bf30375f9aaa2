import { type Envelope, PermanentSinkError, quoteJson } from "@sinks/core";

/** One message as a line of JSON, or the error that says why it can never be one. Equal for every delivery of the message. */
export function lineOf(message: Envelope, maximumBytes: number): Uint8Array | PermanentSinkError {
  const key = quoteJson(message.idempotencyKey());
  const payload = message.payloadForJsonStorage().lineText;
  const line = Buffer.from(`{"key":${key},"subject":${quoteJson(message.subject)},"payload":${payload}}\n`);
  if (line.length <= maximumBytes) return line;
  const { subject, stream, streamSequence } = message;
  return new PermanentSinkError(`the line for ${subject} (${stream}, sequence ${streamSequence}) is longer than max_line_bytes`, {
    code: "line_too_long",
  });
}
