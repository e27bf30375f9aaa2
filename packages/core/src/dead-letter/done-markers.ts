import { digestKey } from "../envelope/idempotency-key.js";
import { encodeCanonicalJson } from "../envelope/json-encode.js";
import { ConfigurationError, DeadLetterError } from "../error/errors.js";
import type { ReplayStore } from "../source/replay-store.js";
import { type DeadLetterEntry, decodeDoneMarker, doneSubject } from "./entry.js";
import { type NextDeadLetter, walkDeadLetters } from "./list.js";

/** What tells whether an entry is done. */
export type DoneCandidate = Pick<DeadLetterEntry, "sequence" | "identity">;

/** Everything that markers call done. */
export interface DoneMarkers {
  /** True for an entry that is marked, itself or as a repeat of one that is. */
  has(entry: DoneCandidate): boolean;
}

/** Reads all markers on the done subject. */
export async function readDoneMarkers(next: NextDeadLetter): Promise<DoneMarkers> {
  const sequences = new Set<number>();
  const identities = new Set<string>();
  for await (const stored of walkDeadLetters(next, 1)) {
    const marker = decodeDoneMarker(stored.data);
    if (marker === null) continue;
    sequences.add(marker.sequence);
    if (marker.identity !== null) identities.add(marker.identity);
  }
  return { has: ({ sequence, identity }) => sequences.has(sequence) || identities.has(identity) };
}

/** Rejects with `ConfigurationError` when markers would not stand in the dead-letter stream (FW-DLQ-10). */
export async function checkDoneSubject(store: Pick<ReplayStore, "stream" | "subject" | "streamOf">): Promise<void> {
  const subject = doneSubject(store.subject);
  if ((await store.streamOf(subject)) === store.stream) return;
  throw new ConfigurationError(
    `dead_letter.subject: stream "${store.stream}" does not take "${subject}", where replayed entries are marked; add it to the stream's subjects`,
  );
}

/** Marks an entry done; rejects with `DeadLetterError` when the stream has not acknowledged the marker. */
export async function markDone(
  store: Pick<ReplayStore, "stream" | "subject" | "publish">,
  entry: DoneCandidate,
  how: string,
): Promise<void> {
  const { sequence, identity } = entry;
  const body = new TextEncoder().encode(encodeCanonicalJson({ dlq_version: 1, how, identity, sequence }));
  const { stream } = await store.publish(doneSubject(store.subject), body, new Map(), `done-${digestKey(`${sequence}:${identity}`)}`);
  if (stream !== store.stream) throw new DeadLetterError(`the marker of dead letter ${sequence} was taken by another stream`);
}
