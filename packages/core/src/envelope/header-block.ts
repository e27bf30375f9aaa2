import { type HeaderMap, malformed, normaliseHeaders } from "./headers.js";
import { decodeUtf8 } from "./utf8-text.js";

const version = "NATS/1.0";

/**
 * Parses the header bytes of a message as they came over the wire (`NATS/1.0`, then a line for each header), in time linear
 * in their size. Throws `SerializationError` (`headers_malformed`) when they are not a header block in UTF-8.
 */
export function parseHeaderBlock(bytes: Uint8Array): HeaderMap {
  const text = decodeUtf8(bytes);
  if (text === null) throw malformed("they are not UTF-8");
  const lines = text.split("\r\n");
  if (!(lines[0] as string).startsWith(version)) throw malformed("the version line is missing");
  return normaliseHeaders(headerLines(lines));
}

/** A line without a colon names nothing: it is passed on as a header with an empty name, and so dropped and counted. */
function* headerLines(lines: readonly string[]): Generator<[string, string]> {
  for (let position = 1; position < lines.length; position += 1) {
    const line = lines[position] as string;
    if (line === "") continue;
    const colon = line.indexOf(":");
    yield colon === -1 ? ["", ""] : [line.slice(0, colon), line.slice(colon + 1)];
  }
}
