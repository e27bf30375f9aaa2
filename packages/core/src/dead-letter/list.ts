import type { StoredDeadLetter } from "../source/dead-letter-store.js";
import { type DeadLetterEntry, decodeDeadLetter } from "./entry.js";

/** Gives the first message on the dead-letter subject at or after a sequence, or null when there is none. */
export type NextDeadLetter = (sequence: number) => Promise<StoredDeadLetter | null>;

/** Which dead letters a page shows. */
export interface DeadLetterPageRequest {
  /** First sequence of the page, from 1. */
  readonly from: number;
  readonly limit: number;
}

/** A page of dead letters, oldest first, payloads left out. */
export interface DeadLetterPage {
  readonly entries: readonly Omit<DeadLetterEntry, "payload" | "record">[];
  /** Where the next page starts; null when this is the last. */
  readonly next: number | null;
}

/** Requests sent at once: sequences are dense as a rule, so most of them bring a message of their own. */
const window = 32;

/** Identities that folding remembers; beyond it a very late repeat shows again, which memory without a bound would not be worth. */
const remembered = 200_000;

/** All messages from a sequence on, in order; a gap costs a few requests that bring the same message. */
export async function* walkDeadLetters(next: NextDeadLetter, from: number): AsyncGenerator<StoredDeadLetter> {
  let start = from;
  for (;;) {
    const first = await next(start);
    if (first === null) return;
    yield first;
    const answers = await Promise.all(Array.from({ length: window }, (_, index) => next(first.sequence + 1 + index)));
    let last = first.sequence;
    for (const answer of answers) {
      if (answer === null) return;
      if (answer.sequence <= last) continue;
      last = answer.sequence;
      yield answer;
    }
    start = last + 1;
  }
}

/**
 * All dead letters in order, entries of one original and sink once, as the first of them (FW-DLQ-03). The server forgets
 * message ids after its duplicate window, so a repeat may lie anywhere behind, and reading starts at the beginning.
 */
export async function* foldDeadLetters(next: NextDeadLetter): AsyncGenerator<DeadLetterEntry> {
  const seen = new Set<string>();
  for await (const stored of walkDeadLetters(next, 1)) {
    const entry = decodeDeadLetter(stored);
    if (seen.has(entry.identity)) continue;
    seen.add(entry.identity);
    if (seen.size > remembered) seen.delete(seen.values().next().value as string);
    yield entry;
  }
}

/** Reads one page of what `foldDeadLetters` gives. */
export async function listDeadLetters(next: NextDeadLetter, request: DeadLetterPageRequest): Promise<DeadLetterPage> {
  const entries: DeadLetterPage["entries"][number][] = [];
  for await (const { payload: _payload, record: _record, ...entry } of foldDeadLetters(next)) {
    if (entry.sequence < request.from) continue;
    if (entries.length === request.limit) return { entries, next: entry.sequence };
    entries.push(entry);
  }
  return { entries, next: null };
}
