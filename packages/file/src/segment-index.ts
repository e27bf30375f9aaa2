import { SequenceRanges } from "./sequence-ranges.js";

const sequenceKey = /^js:1:[^:]*:[^:]*:[^:]*:[^:]*:(?=0$|[1-9][0-9]*$)/;

/** The keys of one segment, exactly: keys with a sequence as ranges, others one by one. */
export class SegmentIndex {
  readonly #byPrefix = new Map<string, SequenceRanges>();
  readonly #others = new Set<string>();
  #prefix = "";
  #ranges: SequenceRanges | undefined;
  #entries = 0;

  /** What it costs to keep, in ranges and single keys. */
  get size(): number {
    return this.#entries;
  }

  add(key: string): void {
    const place = this.#find(key, true);
    if (place === null) {
      if (this.#others.size < this.#others.add(key).size) this.#entries += 1;
      return;
    }
    const before = place.ranges.size;
    place.ranges.add(place.sequence);
    this.#entries += place.ranges.size - before;
  }

  has(key: string): boolean {
    const place = this.#find(key, false);
    return place === null ? this.#others.has(key) : place.ranges.has(place.sequence);
  }

  /** Where a key with a sequence is kept; null for a key that is kept whole. */
  #find(key: string, make: boolean): { ranges: SequenceRanges; sequence: number } | null {
    const cut = key.lastIndexOf(":") + 1;
    // Keys of one stream follow one another, so the prefix of the last one is tried before any search.
    const same = this.#ranges !== undefined && cut === this.#prefix.length && key.startsWith(this.#prefix);
    if (!same && sequenceKey.exec(key)?.[0].length !== cut) return null;
    const digits = key.slice(cut);
    const sequence = Number(digits);
    if (!Number.isSafeInteger(sequence) || String(sequence) !== digits) return null;
    if (!same || this.#ranges === undefined) {
      const prefix = key.slice(0, cut);
      let ranges = this.#byPrefix.get(prefix);
      if (ranges === undefined) {
        ranges = new SequenceRanges();
        if (make) this.#byPrefix.set(prefix, ranges);
        else return { ranges, sequence };
      }
      this.#prefix = prefix;
      this.#ranges = ranges;
    }
    return { ranges: this.#ranges, sequence };
  }
}
