import type { Envelope } from "../envelope/envelope.js";
import type { HeaderSizes } from "./header-sizes.js";

/** Keys, numbers and times of a snapshot, whatever the message. */
const fixedBytes = 4096;
/** JSON text of a UTF-16 unit: `\u0000` is the longest. */
const escaped = 6;
/** A header may stand in a snapshot by itself, as a reserved one, in the list of those, and as a field of its own. */
const appearances = 4;

/**
 * Bytes that the snapshot of a message cannot exceed, without making it: far above the truth and far below the usual limit, so
 * that hardly any snapshot is made to be measured. Infinite where only the snapshot itself tells.
 */
export function metadataBytesAtMost(envelope: Envelope, headers: HeaderSizes | null): number {
  if (envelope.missionMetadata !== null || envelope.securityLabels !== null) return Number.POSITIVE_INFINITY;
  const { subject, reply, stream, consumer, domain, streamCreatedAt, priority, classification, labels } = envelope;
  let units = 0;
  for (const text of [subject, reply, stream, consumer, domain, streamCreatedAt, priority, classification]) units += text?.length ?? 0;
  for (const label of labels) units += label.length + 1;
  const fields = headers === null ? 0 : headers.total + headers.count;
  return fixedBytes + escaped * (units + appearances * fields);
}
