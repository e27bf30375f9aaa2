import type { JsonValue } from "./json.js";
import { freezeJson, readJsonLosslessly } from "./json-reader.js";
import { scanJson } from "./json-scanner.js";
import { decodeUtf8 } from "./utf8-text.js";

/** Names whose presence at the root marks a document of ours (FW-PAY-05). */
const reservedRootMembers: ReadonlySet<string> = new Set(["_nats_sinks", "_nats_sinks_encryption"]);

/** What is known of bytes that are strict JSON (FW-PAY-03). */
export interface StrictJson {
  /** True when the root has a member that our own wrappers use. */
  readonly reservedRoot: boolean;
  /** True when `JSON.parse` keeps every number as it is. */
  readonly plainNumbers: boolean;
}

/**
 * Judges UTF-8 bytes known to be valid: RFC 8259 without byte order mark, distinct member names, at most 512 levels.
 * Null when they are not strict JSON.
 */
export function judgeJson(bytes: Uint8Array): StrictJson | null {
  const facts = scanJson(bytes, reservedRootMembers);
  return facts === null ? null : { reservedRoot: facts.watchedRootMember, plainNumbers: facts.plainNumbers };
}

/** The lossless value of a text that `judgeJson` has accepted, not frozen. */
export function valueOfJson(text: string, json: StrictJson): JsonValue {
  return json.plainNumbers ? (JSON.parse(text) as JsonValue) : readJsonLosslessly(text);
}

/** Frozen, lossless value of a strict JSON document in UTF-8; undefined when the bytes are not one. */
export function parseStrictJson(bytes: Uint8Array): JsonValue | undefined {
  const text = decodeUtf8(bytes);
  const json = text === null ? null : judgeJson(bytes);
  return text === null || json === null ? undefined : freezeJson(valueOfJson(text, json));
}
