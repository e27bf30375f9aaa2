import type { HeaderMap } from "./headers.js";
import type { JsonObject, JsonValue } from "./json.js";
import type { MetadataSnapshot } from "./metadata-snapshot.js";
import type { NormalizedPayload, PayloadMode } from "./payload.js";

/**
 * The frozen, destination-neutral form of one message (FW-ENV-02). It carries no acknowledgement verb, and nothing that
 * can be reached from it does; the reply subject is text only. Derived values (`text`, JSON, snapshot, key) are computed
 * at the first request and kept.
 */
export interface Envelope {
  readonly subject: string;
  /** Body bytes, empty when withheld. The bytes are shared, not copied: do not write into them. */
  readonly data: Uint8Array;
  readonly headers: HeaderMap;
  readonly stream: string | null;
  readonly consumer: string | null;
  readonly domain: string | null;
  readonly account: string | null;
  /** RFC 3339 creation time of the stream incarnation, the server's digits kept. */
  readonly streamCreatedAt: string | null;
  readonly streamSequence: bigint | null;
  readonly consumerSequence: bigint | null;
  /** Server time of the message, ns since the Unix epoch. */
  readonly timestampNs: bigint | null;
  /** Receipt time, ns since the Unix epoch. */
  readonly receivedAtNs: bigint;
  readonly messageId: string | null;
  /** Server delivery count, 1 on the first delivery. */
  readonly deliveryCount: number | null;
  readonly redelivered: boolean | null;
  readonly pending: number | null;
  readonly priority: string | null;
  readonly classification: string | null;
  readonly labels: readonly string[];
  readonly missionMetadata: JsonObject | null;
  readonly securityLabels: JsonObject | null;
  readonly custody: JsonObject | null;
  readonly reply: string | null;
  readonly payloadPresent: boolean;
  readonly payloadOmitted: boolean;
  readonly payloadOmittedReason: "headers_only" | null;
  readonly originalPayloadSizeBytes: number;
  readonly payloadSizeHeaderMalformed: boolean;

  /** Body as text, or null when it is not UTF-8 (FW-PAY-04) or was withheld. */
  text(): string | null;
  /**
   * Body as a frozen JSON value without loss: `bigint` beyond 2^53, `NumberToken` where a double cannot hold a number. Undefined
   * when it is not strict JSON (FW-PAY-03) or was withheld.
   */
  json(): JsonValue | undefined;
  /** The key that makes a write idempotent (FW-ENV-06). Throws `ValidationError` when none can be had (FW-ENV-08). */
  idempotencyKey(): string;
  /** Body in a form a JSON destination can store (FW-PAY-01). Throws `SerializationError` under the strict modes. */
  payloadForJsonStorage(mode?: PayloadMode): NormalizedPayload;
  /** Metadata snapshot (FW-META-01); `storedAtNs` fills the storage times. */
  metadataForJsonStorage(storedAtNs?: bigint): MetadataSnapshot;
  /** The same snapshot as JSON text without white space, digit for digit, made without the object. */
  metadataJsonText(storedAtNs?: bigint): string;
}
