import { createHash } from "node:crypto";

const unreserved = /^[A-Za-z0-9_.-]*$/;

/**
 * Percent-encodes a part of a key over UTF-8 outside `[A-Za-z0-9_.-]`. Different texts always give different results, also
 * texts with lone surrogates, whose three bytes occur in no UTF-8.
 */
export function encodeKeyPart(part: string): string {
  if (unreserved.test(part)) return part;
  let encoded = "";
  for (const character of part) {
    if (unreserved.test(character)) encoded += character;
    else for (const byte of bytesOf(character.codePointAt(0) as number)) encoded += `%${byte.toString(16).toUpperCase().padStart(2, "0")}`;
  }
  return encoded;
}

function bytesOf(point: number): readonly number[] {
  const tail = (shift: number) => 0x80 | ((point >> shift) & 0x3f);
  if (point < 0x80) return [point];
  if (point < 0x800) return [0xc0 | (point >> 6), tail(0)];
  if (point < 0x10000) return [0xe0 | (point >> 12), tail(6), tail(0)];
  return [0xf0 | (point >> 18), tail(12), tail(6), tail(0)];
}

/** What comes before the sequence in the keys of one stream incarnation; `:` stands in no encoded part. */
export function jetStreamKeyPrefix(account: string | null, domain: string | null, stream: string, createdNs: bigint | null): string {
  return `js:1:${encodeKeyPart(account ?? "")}:${encodeKeyPart(domain ?? "")}:${encodeKeyPart(stream)}:${createdNs ?? ""}:`;
}

/** Key of a message that is known by its id. */
export function messageIdKey(stream: string | null, messageId: string): string {
  return `id:1:${encodeKeyPart(stream ?? "")}:${encodeKeyPart(messageId)}`;
}

/** Key of a message that is known by its subject and the digest of its original bytes. */
export function contentKey(subject: string, sha256: string): string {
  return `sha256:1:${encodeKeyPart(subject)}:${sha256}`;
}

/** The one way to shorten a key: its full SHA-256 in hex (FW-ENV-10). */
export function digestKey(key: string): string {
  return createHash("sha256").update(key, "utf8").digest("hex");
}
