import type { Envelope } from "../envelope/envelope.js";
import type { JsonValue } from "../envelope/json.js";
import { encodeCanonicalJson } from "../envelope/json-encode.js";
import type { SinksError } from "../error/errors.js";
import { chunkHeader, keptHeaders, recordHeaders } from "./headers.js";
import { type DeadLetterRecord, deadLetterRecord, wellFormed } from "./record.js";
import { type DeadLetterLimits, type DeadLetterMessage, fits, messageBytes } from "./size.js";

/** What a dead letter may say and how it is put, from `dead_letter` of the configuration. */
export interface DeadLetterContent {
  readonly includePayload: boolean;
  readonly includeHeaders: boolean;
  readonly includeError: boolean;
  readonly format: "json" | "raw";
  readonly oversize: "chunk" | "metadata_only" | "hold";
}

/** One dead letter, to be put into as many messages as the limits ask for. */
export interface DeadLetter {
  readonly id: string;
  /** The messages that carry it, in order; null when it cannot be carried within these limits (FW-DLQ-05). */
  messages(limits: DeadLetterLimits): readonly DeadLetterMessage[] | null;
}

const encoder = new TextEncoder();
const nothing = new Uint8Array(0);
/** More parts than this are not worth a letter. */
const mostChunks = 10_000;

/** Builds the dead letter of one message; throws when its record cannot be put into words. */
export function buildDeadLetter(envelope: Envelope, error: SinksError, sink: string, content: DeadLetterContent): DeadLetter {
  return new FormedDeadLetter(deadLetterRecord(envelope, error, sink, content.includeError), content);
}

/** A record in its forms, the fullest one that fits first: JSON and raw, the configured one before the other, then what `oversize` says. */
class FormedDeadLetter implements DeadLetter {
  readonly #record: DeadLetterRecord;
  readonly #content: DeadLetterContent;
  readonly #json: DeadLetterMessage | null;

  constructor(record: DeadLetterRecord, content: DeadLetterContent) {
    this.#record = record;
    this.#content = content;
    this.#json = content.format === "json" ? this.#jsonMessage(this.#contentMembers()) : null;
  }

  get id(): string {
    return this.#record.id;
  }

  messages(limits: DeadLetterLimits): readonly DeadLetterMessage[] | null {
    if (this.#json !== null && fits([this.#json], limits)) return [this.#json];
    const { body } = this.#record;
    const whole = this.#rawMessage(this.#content.includePayload ? (body ?? nothing) : nothing);
    if (fits([whole], limits)) return [whole];
    // Headers that are too many for a header block have room in a body.
    const json = this.#json ?? this.#jsonMessage(this.#contentMembers());
    if (fits([json], limits)) return [json];
    if (this.#content.oversize === "chunk") return this.#chunks(whole, limits);
    return this.#content.oversize === "metadata_only" ? this.#withoutPayload(limits) : null;
  }

  /**
   * Where a part ends follows from the size of the body and the number of parts alone: after a restart under another limit
   * an id still names the same bytes.
   */
  #chunks({ body, headers }: DeadLetterMessage, limits: DeadLetterLimits): readonly DeadLetterMessage[] | null {
    const chunk = (index: number, count: number): DeadLetterMessage => ({
      body: body.subarray(boundary(index - 1, count), boundary(index, count)),
      headers: new Map([...headers, [chunkHeader, `${index}/${count}`]]),
      id: `${this.id}-c${index}/${count}`,
    });
    const boundary = (index: number, count: number): number => Math.floor((index * body.length) / count);
    const room = limits.messageBytes - messageBytes({ ...chunk(mostChunks, mostChunks), body: nothing });
    const count = Math.ceil(body.length / room);
    if (room <= 0 || count < 2 || count > mostChunks) return null;
    const chunks = Array.from({ length: count }, (_, index) => chunk(index + 1, count));
    return fits(chunks, limits) ? chunks : null;
  }

  /** What is left out is named; the headers go last. */
  #withoutPayload(limits: DeadLetterLimits): readonly DeadLetterMessage[] | null {
    const reason: Record<string, JsonValue> = this.#missingPayload() ?? { payload_unavailable_reason: "too_large" };
    const smaller = { ...reason, ...this.#headerMembers() };
    const smallest = { ...reason, headers_unavailable_reason: "too_large" };
    for (const members of [smaller, smallest]) {
      const inJson = this.#jsonMessage(members);
      const forms = this.#content.format === "raw" ? [this.#rawRecord(members), inJson] : [inJson];
      const fitting = forms.find((form) => fits([form], limits));
      if (fitting !== undefined) return [fitting];
    }
    return null;
  }

  #jsonMessage(members: Readonly<Record<string, JsonValue>>): DeadLetterMessage {
    const { fields, id } = this.#record;
    return { body: encoder.encode(encodeCanonicalJson({ ...fields, ...members })), headers: this.#commonHeaders(), id };
  }

  #rawMessage(body: Uint8Array): DeadLetterMessage {
    const headers = this.#content.includeHeaders ? this.#headerMembers() : { headers_unavailable_reason: "not_included" };
    return { ...this.#rawRecord({ ...this.#missingPayload(), ...headers }), body };
  }

  #rawRecord({ headers: original, ...members }: Readonly<Record<string, JsonValue>>): DeadLetterMessage {
    const { fields, id } = this.#record;
    const kept = keptHeaders(Object.entries((original ?? {}) as Readonly<Record<string, string>>));
    return { body: nothing, headers: new Map([...kept, ...recordHeaders({ ...fields, ...members }), ...this.#commonHeaders()]), id };
  }

  #contentMembers(): Record<string, JsonValue> {
    const { body } = this.#record;
    if (!this.#content.includePayload) return this.#headerMembers();
    return { ...this.#headerMembers(), ...(body === null ? this.#missingPayload() : { payload_base64: base64(body) }) };
  }

  /** Why there is no payload; null when there is one. */
  #missingPayload(): Record<string, JsonValue> | null {
    const { fields, body } = this.#record;
    if (!this.#content.includePayload) return { payload_unavailable_reason: "not_included" };
    if (body !== null) return null;
    return { payload_unavailable_reason: (fields["payload"] as Readonly<Record<string, JsonValue>>)["omitted_reason"] ?? null };
  }

  #headerMembers(): Record<string, JsonValue> {
    return this.#content.includeHeaders ? { headers: this.#record.headers } : {};
  }

  #commonHeaders(): Map<string, string> {
    const { fields } = this.#record;
    const headers = new Map([["Nats-Sinks-Original-Subject", headerValue(fields["subject"] as string)]]);
    const type = fields["error_type"];
    if (typeof type === "string") headers.set("Nats-Sinks-Error-Type", headerValue(type));
    return headers;
  }
}

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64");
}

/** A subject may hold characters that a header line cannot. */
function headerValue(text: string): string {
  return encodeURI(wellFormed(text)).replaceAll("%25", "%");
}
