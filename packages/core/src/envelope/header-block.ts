import { HeaderCollector, type HeaderMap, malformed } from "./headers.js";
import { decodeUtf8 } from "./utf8-text.js";

const version = "NATS/1.0";
const lineEnd = "\r\n";

/**
 * Parses the header bytes of a message as they came over the wire (`NATS/1.0`, then a line for each header), in time linear
 * in their size. A line without a colon names nothing: it is dropped and counted. Throws `SerializationError`
 * (`headers_malformed`) when the bytes are no header block in UTF-8.
 */
export function parseHeaderBlock(bytes: Uint8Array): HeaderMap {
  const text = decodeUtf8(bytes);
  if (text === null) throw malformed("they are not UTF-8");
  if (!text.startsWith(version)) throw malformed("the version line is missing");
  const collector = new HeaderCollector();
  let start = text.indexOf(lineEnd);
  while (start !== -1) {
    start += lineEnd.length;
    const next = text.indexOf(lineEnd, start);
    const end = next === -1 ? text.length : next;
    if (end > start) addLine(collector, text.slice(start, end));
    start = next;
  }
  return collector.finish();
}

function addLine(collector: HeaderCollector, line: string): void {
  const colon = line.indexOf(":");
  if (colon === -1) collector.add("", "");
  else collector.add(line.slice(0, colon), line.slice(colon + 1));
}
