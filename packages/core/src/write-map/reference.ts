import type { Envelope } from "../envelope/envelope.js";
import { foldHeaderName } from "../envelope/headers.js";
import { isNumberToken } from "../envelope/json.js";
import { jsonForReading } from "../envelope/message-envelope.js";
import { formatRfc3339 } from "../envelope/rfc3339.js";
import { isErrorKind } from "../error/errors.js";
import { indexOf, type ReferencePath, type RootName } from "./reference-path.js";
import { subjectToken } from "./subject-token.js";

/** Reads one value of a message; `item` and `index` are the element at hand under `each`. Undefined when there is none. */
export type Reader = (envelope: Envelope, item: unknown, index: number) => unknown;

const readers: Readonly<Record<Exclude<RootName, "subject_token" | "header">, Reader>> = {
  payload: jsonForReading,
  payload_json: (envelope) => envelope.payloadForJsonStorage().value,
  text: (envelope) => envelope.text(),
  subject: (envelope) => envelope.subject,
  stream: (envelope) => envelope.stream,
  stream_sequence: (envelope) => envelope.streamSequence,
  message_id: (envelope) => envelope.messageId,
  idempotency_key: keyOf,
  priority: (envelope) => envelope.priority,
  classification: (envelope) => envelope.classification,
  labels: (envelope) => envelope.labels,
  mission: (envelope) => envelope.missionMetadata,
  timestamp: ({ timestampNs }) => (timestampNs === null ? null : formatRfc3339(timestampNs)),
  timestamp_ns: (envelope) => envelope.timestampNs,
  received_at: (envelope) => formatRfc3339(envelope.receivedAtNs),
  delivery_count: (envelope) => envelope.deliveryCount,
  metadata: (envelope) => envelope.metadataForJsonStorage(),
  item: (_envelope, item) => item,
  index: (_envelope, _item, index) => index,
};

/** Roots whose null means that the message has no such value; a null inside a document is a value (FW-MAP-04). */
const documents: ReadonlySet<RootName> = new Set<RootName>(["payload", "payload_json", "item"]);

function keyOf(envelope: Envelope): string | null {
  try {
    return envelope.idempotencyKey();
  } catch (error) {
    // A message without sequence, id and body has no key (FW-ENV-08).
    if (isErrorKind(error, "ValidationError")) return null;
    throw error;
  }
}

/**
 * Compiles a reference to a reader that gives undefined for what is missing, whether it is optional or not. What it gives of a
 * payload may not be frozen: see `handOn`.
 */
export function compileReference({ root, segments }: ReferencePath): Reader {
  const [segment = ""] = segments;
  if (root === "subject_token") return tokenReader(Number(segment));
  if (root === "header") return headerReader(segment);
  const origin = readers[root];
  const whole: Reader = documents.has(root) ? origin : (envelope, item, index) => origin(envelope, item, index) ?? undefined;
  return segments.reduce(below, whole);
}

function tokenReader(token: number): Reader {
  return ({ subject }) => subjectToken(subject, token) ?? undefined;
}

function headerReader(name: string): Reader {
  const folded = foldHeaderName(name);
  return ({ headers }) => headers.getFolded(folded);
}

/** Own members and elements only: no path reaches a prototype, whatever a document calls its members. */
function below(read: Reader, segment: string): Reader {
  const place = indexOf(segment);
  const inherited = segment in Object.prototype;
  return (envelope, item, index) => {
    const value = read(envelope, item, index);
    if (typeof value !== "object" || value === null) return undefined;
    if (Array.isArray(value)) return place === null ? undefined : (value[place] as unknown);
    if (inherited && !Object.hasOwn(value, segment)) return undefined;
    const member = (value as Record<string, unknown>)[segment];
    return member !== undefined && isNumberToken(value) ? undefined : member;
  };
}
