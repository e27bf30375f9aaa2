import { hash } from "node:crypto";
import type { JsonValue } from "./json.js";
import { freezeJson } from "./json-reader.js";
import { judgeJson, type StrictJson, valueOfJson } from "./strict-json.js";
import { decodeUtf8 } from "./utf8-text.js";

/** The bytes of one body and what is known of them; each fact is found at the first request and kept (FW-ENV-11). */
export class Body {
  readonly bytes: Uint8Array;
  #text: string | null | undefined;
  #json: StrictJson | null | undefined;
  #value: JsonValue | undefined;
  #sha256: string | undefined;

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
  }

  /** The text, null when the bytes are not UTF-8. */
  get text(): string | null {
    if (this.#text === undefined) this.#text = decodeUtf8(this.bytes);
    return this.#text;
  }

  /** What is known when the bytes are strict JSON, else null. */
  get json(): StrictJson | null {
    if (this.#json === undefined) this.#json = this.text === null || this.bytes.length === 0 ? null : judgeJson(this.bytes);
    return this.#json;
  }

  /** The lossless value, not frozen yet: for readers that take parts of it and freeze what they hand on. */
  get unfrozenValue(): JsonValue | undefined {
    if (this.#value === undefined && this.json !== null) this.#value = valueOfJson(this.text as string, this.json);
    return this.#value;
  }

  /** The frozen, lossless value; undefined when the bytes are not strict JSON. */
  get value(): JsonValue | undefined {
    const value = this.unfrozenValue;
    return value === undefined ? undefined : freezeJson(value);
  }

  /** 64 lowercase hex digits. */
  get sha256(): string {
    this.#sha256 ??= hash("sha256", this.bytes, "hex");
    return this.#sha256;
  }
}
