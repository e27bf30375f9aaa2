/** Two stream sequences, both inclusive. */
export type SequenceRange = readonly [first: number, last: number];

/**
 * Sequences in rising order, kept as ranges (FW-CLI-11). Memory is bounded: beyond the limit sequences are counted, and no
 * longer listed.
 */
export class RangeList {
  readonly #ranges: [number, number][] = [];
  readonly #limit: number;
  #count = 0;
  #listed = 0;

  constructor(limit = 100_000) {
    this.#limit = limit;
  }

  /** How many sequences were added. */
  get count(): number {
    return this.#count;
  }

  /** How many sequences stand in no range, for want of room. */
  get unlisted(): number {
    return this.#count - this.#listed;
  }

  get ranges(): readonly SequenceRange[] {
    return this.#ranges;
  }

  /** Adds a sequence above every one that was added before. */
  add(sequence: number): void {
    this.#count += 1;
    const last = this.#ranges.at(-1);
    if (last !== undefined && sequence <= last[1]) throw new RangeError("sequences must be added in rising order");
    if (last !== undefined && this.unlisted === 1 && sequence === last[1] + 1) last[1] = sequence;
    else if (this.#ranges.length < this.#limit) this.#ranges.push([sequence, sequence]);
    else return;
    this.#listed += 1;
  }
}
