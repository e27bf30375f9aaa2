import { SegmentIndex } from "./segment-index.js";

interface Kept {
  readonly index: SegmentIndex;
  /** False when the segment holds keys that this index was not told of. */
  readonly whole: boolean;
}

/**
 * The indexes of segments that were written or read lately. What is kept is exact and durable; memory is bounded by
 * forgetting whole segments, oldest first.
 */
export class SegmentIndexes {
  readonly #kept = new Map<string, Kept>();
  readonly #limit: number;
  #size = 0;

  /** `limit` counts ranges and single keys, some 16 to 200 bytes each. */
  constructor(limit = 500_000) {
    this.#limit = limit;
  }

  /** Begins the index of a segment that is empty so far. */
  begin(segment: string): void {
    this.keep(segment, new SegmentIndex());
  }

  /** Keeps the index of a segment that was read from its first record to its last. */
  keep(segment: string, index: SegmentIndex): void {
    this.#forget(segment);
    this.#kept.set(segment, { index, whole: true });
    this.#size += index.size + 1;
    this.#shrink(segment);
  }

  /** Notes durable keys of a segment. */
  add(segment: string, keys: Iterable<string>): void {
    let kept = this.#kept.get(segment);
    if (kept === undefined) {
      kept = { index: new SegmentIndex(), whole: false };
      this.#kept.set(segment, kept);
      this.#size += 1;
    }
    const before = kept.index.size;
    for (const key of keys) kept.index.add(key);
    this.#size += kept.index.size - before;
    this.#shrink(segment);
  }

  /** True when some segment that is kept holds the key. */
  has(key: string): boolean {
    for (const { index } of this.#kept.values()) if (index.has(key)) return true;
    return false;
  }

  /** True when nothing of the segment has to be read from the disk. */
  knows(segment: string): boolean {
    return this.#kept.get(segment)?.whole ?? false;
  }

  #forget(segment: string): void {
    const kept = this.#kept.get(segment);
    if (kept === undefined) return;
    this.#kept.delete(segment);
    this.#size -= kept.index.size + 1;
  }

  #shrink(spared: string): void {
    for (const segment of this.#kept.keys()) {
      if (this.#size <= this.#limit) return;
      if (segment !== spared) this.#forget(segment);
    }
    // One segment alone may be over the limit: its first keys are given up with the rest of it.
    if (this.#size > this.#limit) this.#forget(spared);
  }
}
