import type { Configuration } from "../config/schema.js";
import { type DeadLetterStore, openDeadLetterStore } from "../source/dead-letter-store.js";
import { type DoneCandidate, readDoneMarkers } from "./done-markers.js";
import { type DeadLetterEntry, decodeDeadLetter, doneSubject } from "./entry.js";
import { joinChunks } from "./join.js";
import { type DeadLetterPage, type DeadLetterPageRequest, listDeadLetters, type NextDeadLetter } from "./list.js";

/** Reads the dead letters of one configuration; disposal closes its connection. */
export interface DeadLetterReader extends AsyncDisposable {
  /** One page, oldest first, repeats and chunks of one message shown once (FW-CLI-11). */
  list(request: DeadLetterPageRequest): Promise<DeadLetterPage>;
  /** Sequences of the entries that are marked as dealt with, themselves or as a repeat of one that is. */
  done(entries: readonly DoneCandidate[]): Promise<ReadonlySet<number>>;
  /** One entry with its payload, chunks joined; null when the dead-letter stream has none at this sequence. */
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
export function createDeadLetterReader(store: Pick<DeadLetterStore, "subject" | "next" | "read"> & AsyncDisposable): DeadLetterReader {
  const { subject } = store;
  const next: NextDeadLetter = (sequence) => store.next(subject, sequence);
  return {
    list: (request) => listDeadLetters(next, request),
    async done(entries) {
      const markers = await readDoneMarkers((sequence) => store.next(doneSubject(subject), sequence));
      return new Set(entries.filter((entry) => markers.has(entry)).map(({ sequence }) => sequence));
    },
    async read(sequence) {
      const stored = await store.read(sequence);
      if (stored === null || stored.subject !== subject) return null;
      const entry = decodeDeadLetter(stored);
      return entry.chunk === null ? entry : joinChunks(next, entry);
    },
    [Symbol.asyncDispose]: () => store[Symbol.asyncDispose](),
  };
}
