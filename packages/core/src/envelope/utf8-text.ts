import { isUtf8 } from "node:buffer";

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Text of UTF-8 bytes, a byte order mark kept; null when they are not UTF-8 (FW-PAY-04). */
export function decodeUtf8(bytes: Uint8Array): string | null {
  // The check first: it is cheap, while an exception of the decoder for each binary body is not.
  return isUtf8(bytes) ? decoder.decode(bytes) : null;
}
