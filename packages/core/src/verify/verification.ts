import { RangeList } from "./range-list.js";

/** What became of the sequences that were looked at (FW-CLI-07). `expected` is the sum of all others but the duplicates. */
export interface Verification {
  readonly expected: number;
  readonly stored: number;
  /** In the dead letters and not in the destination. */
  readonly deadLettered: number;
  readonly pending: number;
  /** Removed from the stream by its limits, or by hand, and not in the destination. */
  readonly purged: number;
  /** Neither stored, nor dead-lettered, nor pending, nor removed by the stream. */
  readonly missing: RangeList;
  /** Stored more than once. */
  readonly duplicates: RangeList;
  /** What a reader must know beside the figures, one sentence each. */
  readonly notes: readonly string[];
}

const notesLimit = 20;

/** Adds up the fates of sequences, in their order. */
export class VerificationTally {
  stored = 0;
  deadLettered = 0;
  pending = 0;
  purged = 0;
  /** Sequences of which nobody knows whether they were of this pipeline. */
  foreign = 0;
  readonly missing = new RangeList();
  readonly duplicates = new RangeList();
  readonly #notes = new Set<string>();
  #furtherNotes = 0;

  note(text: string): void {
    if (this.#notes.has(text)) return;
    if (this.#notes.size < notesLimit) this.#notes.add(text);
    else this.#furtherNotes += 1;
  }

  result(): Verification {
    const { stored, deadLettered, pending, purged, missing, duplicates } = this;
    const expected = stored + deadLettered + pending + purged + missing.count;
    const further = this.#furtherNotes === 0 ? [] : [`${this.#furtherNotes} further notes are left out`];
    const unlisted = [missing, duplicates].some((list) => list.unlisted > 0);
    const cut = unlisted ? ["there are more ranges than are listed; look at parts with --from and --to"] : [];
    return { expected, stored, deadLettered, pending, purged, missing, duplicates, notes: [...this.#notes, ...further, ...cut] };
  }
}
