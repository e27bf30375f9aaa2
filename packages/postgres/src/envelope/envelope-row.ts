import { type Envelope, encodeJson, parseRfc3339, quoteJson, ValidationError } from "@sinks/core";
import type { PostgresOptions } from "../options.js";
import type { BuiltWrite, Form } from "../render/built-write.js";
import { type ArrayElements, arrayText } from "../value/array-text.js";
import { heldJson, heldText } from "./held-text.js";

/** What decides the values of a row. */
export type EnvelopeRowOptions = Pick<PostgresOptions, "payload_type" | "payload_mode" | "include_metadata" | "nul">;

const textElements: ArrayElements = { base: "text", arraysAreElements: false, text: String };

/** About what the fixed part of a row takes on the wire. */
const rowBytes = 120;

/** Makes the rows of whole messages (WO-ENV-01), for one table. */
export class EnvelopeRows {
  readonly #options: EnvelopeRowOptions;
  readonly #nowNs: () => bigint;
  // Messages come from one stream, so the last answer is nearly always the next one.
  #createdAt: string | null = null;
  #createdNs = "0";

  constructor(options: EnvelopeRowOptions, nowNs: () => bigint) {
    this.#options = options;
    this.#nowNs = nowNs;
  }

  /** The three values that identify a message in the table; throws `ValidationError` for a message outside JetStream. */
  identity(message: Envelope): readonly [stream: string, createdNs: string, sequence: string] {
    const { stream, streamSequence } = message;
    if (stream === null || streamSequence === null) {
      throw new ValidationError("the message has no stream sequence, which the table of whole messages needs");
    }
    return [stream, this.#createdNsOf(message.streamCreatedAt), streamSequence.toString()];
  }

  /** The row of one message. Throws a permanent `SinkError` where the table cannot hold it. */
  row(message: Envelope, form: Form): BuiltWrite {
    const { payload_type: type, nul, include_metadata: includeMetadata } = this.#options;
    const [stream, createdNs, sequence] = this.identity(message);
    const text = (value: string | null, what: string) => (value === null ? null : heldText(value, what, nul));
    const payload = this.#payload(message);
    const headers = headersText(message);
    const values = [
      heldText(stream, "the stream", nul),
      createdNs,
      sequence,
      heldText(message.subject, "the subject", nul),
      text(message.messageId, "the message id"),
      message.timestampNs === null ? null : message.timestampNs.toString(),
      text(message.priority, "the priority"),
      text(message.classification, "the classification"),
      message.labels.length === 0 ? null : heldText(arrayText(message.labels, textElements), "the labels", nul),
      headers === null ? null : heldJson(headers, "the headers", nul),
      payload === null || type === "bytea" || type === "text" ? payload : heldJson(payload, "the payload", nul),
      jsonText(message.missionMetadata, "the mission metadata", nul),
      jsonText(message.securityLabels, "the security labels", nul),
      jsonText(message.custody, "the custody record", nul),
      includeMetadata ? heldJson(message.metadataJsonText(this.#nowNs()), "the metadata", nul) : null,
    ];
    let bytes = rowBytes;
    for (const value of values) bytes += value === null ? 0 : value.length;
    return {
      form,
      values,
      conflict: form.cutsAtRepeatedConflict ? `${createdNs} ${sequence} ${stream}` : null,
      bytes,
      namesFromMessage: false,
    };
  }

  #payload(message: Envelope): string | null {
    if (message.payloadOmitted) return null;
    if (this.#options.payload_type !== "bytea") return message.payloadForJsonStorage(this.#options.payload_mode).text;
    const { buffer, byteOffset, byteLength } = message.data;
    return `\\x${Buffer.from(buffer, byteOffset, byteLength).toString("hex")}`;
  }

  #createdNsOf(createdAt: string | null): string {
    if (createdAt !== this.#createdAt) {
      this.#createdAt = createdAt;
      this.#createdNs = (createdAt === null ? 0n : (parseRfc3339(createdAt) ?? 0n)).toString();
    }
    return this.#createdNs;
  }
}

/** The normalised headers as one JSON object in their order; null when there are none. */
function headersText(message: Envelope): string | null {
  const { headers } = message;
  if (headers.size === 0) return null;
  let text = "";
  for (const [name, value] of headers) text += `${text === "" ? "{" : ","}${quoteJson(name)}:${quoteJson(value)}`;
  return `${text}}`;
}

function jsonText(value: Envelope["custody"], what: string, nul: EnvelopeRowOptions["nul"]): string | null {
  return value === null ? null : heldJson(encodeJson(value), what, nul);
}
