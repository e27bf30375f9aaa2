/** Numbers that look random and are the same for a seed, so that a run that failed can be had again. */
export class SeededRandom {
  #state: number;

  constructor(seed: number) {
    this.#state = (seed * 2_654_435_761) >>> 0;
  }

  /** A number in [0, 1). */
  next(): number {
    // Mulberry32.
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let value = this.#state;
    value = Math.imul(value ^ (value >>> 15), value | 1);
    value ^= value + Math.imul(value ^ (value >>> 7), value | 61);
    return ((value ^ (value >>> 14)) >>> 0) / 4_294_967_296;
  }

  /** True with this probability. */
  chance(probability: number): boolean {
    return this.next() < probability;
  }

  /** One of these. */
  pick<Choice>(choices: readonly [Choice, ...Choice[]]): Choice {
    return choices[Math.floor(this.next() * choices.length)] ?? choices[0];
  }
}
