import { SerializationError } from "../error/errors.js";
import type { Body } from "./body.js";
import type { JsonObject, JsonValue } from "./json.js";
import { quoteJson } from "./json-encode.js";

/** How a body becomes JSON (FW-PAY-01). */
export type PayloadMode = "json_or_envelope" | "json_only" | "text_envelope" | "bytes_envelope";

/** What a body is; `omitted` when the server withheld it. */
export type PayloadFormat = "json" | "text" | "bytes" | "omitted";

/** A body in a form that a JSON destination can store. Everything but the facts is computed at the first request. */
export interface NormalizedPayload {
  /** What the body is, also when it is wrapped. */
  readonly originalFormat: PayloadFormat;
  readonly wrapped: boolean;
  /** Digest of the original bytes, lowercase hex; null when the body was withheld. */
  readonly sha256: string | null;
  /** Size of the original bytes; 0 when the body was withheld. */
  readonly sizeBytes: number;
  /** JSON text to store as it is: the producer's own spelling, or the wrapper. */
  readonly text: string;
  /** The same text without line breaks, for formats with one document in a line. */
  readonly lineText: string;
  /** Frozen value without loss: bigint beyond 2^53, `NumberToken` where a double cannot hold a number. */
  readonly value: JsonValue;
}

/** Normalises one body; throws `SerializationError` where the mode refuses it. `place` names the message for the error. */
export function normalisePayload(body: Body, mode: PayloadMode, place: () => string): NormalizedPayload {
  if (mode === "bytes_envelope") return new WrappedPayload(body, formatOf(body), "bytes");
  const json = body.json;
  if (json !== null && mode !== "text_envelope" && !json.reservedRoot) return new VerbatimPayload(body);
  if (json === null && mode === "json_only")
    throw new SerializationError(`the payload is not JSON (${place()})`, { code: "payload_not_json" });
  if (body.text !== null) return new WrappedPayload(body, json === null ? "text" : "json", "text");
  if (mode === "text_envelope") throw new SerializationError(`the payload is not UTF-8 text (${place()})`, { code: "payload_not_text" });
  return new WrappedPayload(body, "bytes", "bytes");
}

/** What stands for a body that the server withheld (FW-FILE-08). */
export const omittedPayload: NormalizedPayload = Object.freeze({
  originalFormat: "omitted",
  wrapped: false,
  sha256: null,
  sizeBytes: 0,
  text: "null",
  lineText: "null",
  value: null,
});

function formatOf(body: Body): PayloadFormat {
  if (body.text === null) return "bytes";
  return body.json === null ? "text" : "json";
}

/** A JSON body that is stored as it is. */
class VerbatimPayload implements NormalizedPayload {
  readonly #body: Body;

  constructor(body: Body) {
    this.#body = body;
    Object.freeze(this);
  }

  get originalFormat(): PayloadFormat {
    return "json";
  }

  get wrapped(): boolean {
    return false;
  }

  get sha256(): string {
    return this.#body.sha256;
  }

  get sizeBytes(): number {
    return this.#body.bytes.length;
  }

  get text(): string {
    return this.#body.text as string;
  }

  get lineText(): string {
    // A line break inside a string would not be JSON, so every one of them is white space between tokens.
    return this.text.replace(/[\r\n]/g, " ");
  }

  get value(): JsonValue {
    return this.#body.value as JsonValue;
  }
}

/** A body inside the wrapper of FW-PAY-02. */
class WrappedPayload implements NormalizedPayload {
  readonly originalFormat: PayloadFormat;
  readonly #body: Body;
  readonly #as: "text" | "bytes";
  #text: string | undefined;
  #value: JsonObject | undefined;

  constructor(body: Body, originalFormat: PayloadFormat, as: "text" | "bytes") {
    this.#body = body;
    this.#as = as;
    this.originalFormat = originalFormat;
    Object.freeze(this);
  }

  get wrapped(): boolean {
    return true;
  }

  get sha256(): string {
    return this.#body.sha256;
  }

  get sizeBytes(): number {
    return this.#body.bytes.length;
  }

  get text(): string {
    this.#text ??=
      `{"_nats_sinks":{"payload_envelope_version":1,"payload_format":"${this.#as}","payload_encoding":"${this.#encoding}",` +
      `"sha256":"${this.sha256}","size_bytes":${this.sizeBytes}},"payload":${quoteJson(this.#payload)}}`;
    return this.#text;
  }

  get lineText(): string {
    return this.text;
  }

  get value(): JsonObject {
    this.#value ??= Object.freeze({
      _nats_sinks: Object.freeze({
        payload_envelope_version: 1,
        payload_format: this.#as,
        payload_encoding: this.#encoding,
        sha256: this.sha256,
        size_bytes: this.sizeBytes,
      }),
      payload: this.#payload,
    });
    return this.#value;
  }

  get #encoding(): string {
    return this.#as === "text" ? "utf-8" : "base64";
  }

  get #payload(): string {
    if (this.#as === "text") return this.#body.text as string;
    const { buffer, byteOffset, byteLength } = this.#body.bytes;
    return Buffer.from(buffer, byteOffset, byteLength).toString("base64");
  }
}
