import type { Configuration } from "../config/schema.js";
import type { Envelope } from "../envelope/envelope.js";
import { encodeJson } from "../envelope/json-encode.js";
import { describeMessage } from "../envelope/message-description.js";
import type { ErrorCode } from "../error/codes.js";
import { SizePolicyViolationError } from "../error/errors.js";
import type { HeaderSizes } from "./header-sizes.js";
import { metadataBytesAtMost } from "./metadata-bound.js";

type SizePolicy = Configuration["size_policy"];
type LimitKey = Exclude<keyof SizePolicy, "enabled" | "max_batch_messages">;

/** JSON text is at most six bytes for a byte of the body, and the wrapper around it has about two hundred. */
const normalisedFactor = 6;
const wrapperBytes = 512;

/** The limits of `size_policy` as checks of one message; every limit is inclusive and in bytes (FW-POL-01, FW-POL-02). */
export class SizeLimits {
  readonly #limits: SizePolicy;

  constructor(limits: SizePolicy) {
    this.#limits = limits;
  }

  /** What is known before anything of the message is parsed: the body and the headers as they came. */
  raw(envelope: Envelope, headers: HeaderSizes | null): SizePolicyViolationError | null {
    const over = this.#checker(envelope);
    return (
      over("payload_too_large", "max_payload_bytes", envelope.data.length) ??
      (headers === null
        ? null
        : (over("header_count_too_large", "max_header_count", headers.count) ??
          over("header_name_too_large", "max_header_name_bytes", headers.name) ??
          over("header_value_too_large", "max_header_value_bytes", headers.value) ??
          over("headers_too_large", "max_headers_bytes", headers.total)))
    );
  }

  /** What is known once headers and metadata are read: labels, mission metadata, the snapshot and the record. */
  derived(envelope: Envelope, headers: HeaderSizes | null): SizePolicyViolationError | null {
    const over = this.#checker(envelope);
    const labels = envelope.labels.map((label) => Buffer.byteLength(label));
    const mission = envelope.missionMetadata;
    const metadata = this.#metadataBytes(envelope, headers);
    return (
      over("label_count_too_large", "max_label_count", labels.length) ??
      over("label_too_large", "max_label_bytes", Math.max(0, ...labels)) ??
      over("labels_too_large", "max_labels_bytes", sum(labels)) ??
      over("mission_metadata_too_large", "max_mission_metadata_bytes", mission === null ? 0 : Buffer.byteLength(encodeJson(mission))) ??
      over("standard_metadata_too_large", "max_standard_metadata_bytes", metadata) ??
      over("normalized_record_too_large", "max_normalized_record_bytes", this.#recordBytes(envelope, metadata))
    );
  }

  /** The snapshot, or more than it when even that is within the limit: it is made only when it could be too large. */
  #metadataBytes(envelope: Envelope, headers: HeaderSizes | null): number {
    const most = metadataBytesAtMost(envelope, headers);
    return most <= this.#limits.max_standard_metadata_bytes ? most : Buffer.byteLength(envelope.metadataJsonText());
  }

  /** Body in its JSON form and snapshot together, by the same rule. */
  #recordBytes(envelope: Envelope, metadataAtMost: number): number {
    const most = normalisedFactor * envelope.data.length + wrapperBytes + metadataAtMost;
    if (most <= this.#limits.max_normalized_record_bytes) return most;
    return Buffer.byteLength(envelope.metadataJsonText()) + Buffer.byteLength(envelope.payloadForJsonStorage().text);
  }

  #checker(envelope: Envelope): (code: ErrorCode, key: LimitKey, size: number) => SizePolicyViolationError | null {
    return (code, key, size) => {
      const limit = this.#limits[key];
      if (size <= limit) return null;
      const place = describeMessage(envelope.subject, envelope.stream, envelope.streamSequence);
      return new SizePolicyViolationError(`${size} is over size_policy.${key}, which is ${limit} (${place})`, { code });
    };
  }
}

function sum(sizes: readonly number[]): number {
  return sizes.reduce((total, size) => total + size, 0);
}
