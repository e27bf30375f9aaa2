import type { Configuration } from "../config/schema.js";
import { type DeadLetterStore, openDeadLetterStore } from "../source/dead-letter-store.js";
import { type DeadLetterEntry, decodeDeadLetter, decodeDoneMarker, doneSubject } from "./dead-letter-entry.js";
import { type DeadLetterPage, type DeadLetterPageRequest, listDeadLetters, walkDeadLetters } from "./dead-letter-list.js";

/** Reads the dead letters of one configuration; disposal closes its connection. */
export interface DeadLetterReader extends AsyncDisposable {
  /** One page, oldest first, repeats of one message shown once (FW-CLI-11). */
  list(request: DeadLetterPageRequest): Promise<DeadLetterPage>;
  /** Sequences of dead letters that are marked as dealt with, among those asked for. */
  done(sequences: ReadonlySet<number>): Promise<ReadonlySet<number>>;
  /** One entry with its payload; null when the dead-letter stream has none at this sequence. */
  read(sequence: number): Promise<DeadLetterEntry | null>;
}

/**
 * Opens a reader on `dead_letter` of a configuration whose secrets are resolved. Rejects with `ConfigurationError` when
 * dead letters are off or no stream takes them, with `CredentialsError` or another `SinksError` when the server cannot be read.
 */
export async function openDeadLetterReader(configuration: Configuration): Promise<DeadLetterReader> {
  return createDeadLetterReader(await openDeadLetterStore(configuration));
}

/** A reader over an open store, which it takes over. */
export function createDeadLetterReader(store: DeadLetterStore): DeadLetterReader {
  const { subject } = store;
  return {
    list: (request) => listDeadLetters((sequence) => store.next(subject, sequence), request),
    async done(sequences) {
      const found = new Set<number>();
      for await (const marker of walkDeadLetters((sequence) => store.next(doneSubject(subject), sequence), 1)) {
        const sequence = decodeDoneMarker(marker.data);
        if (sequence !== null && sequences.has(sequence)) found.add(sequence);
      }
      return found;
    },
    async read(sequence) {
      const stored = await store.read(sequence);
      return stored === null || stored.subject !== subject ? null : decodeDeadLetter(stored);
    },
    [Symbol.asyncDispose]: () => store[Symbol.asyncDispose](),
  };
}
