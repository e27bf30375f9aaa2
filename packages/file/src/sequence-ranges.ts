/** A set of safe integers kept as ranges: a run of any length costs two numbers. */
export class SequenceRanges {
  readonly #starts: number[] = [];
  readonly #ends: number[] = [];

  /** How many runs it takes. */
  get size(): number {
    return this.#starts.length;
  }

  /** True when the value was not there. */
  add(value: number): boolean {
    const next = this.#after(value);
    const previous = next - 1;
    if (previous >= 0 && (this.#ends[previous] as number) >= value) return false;
    const touchesPrevious = previous >= 0 && this.#ends[previous] === value - 1;
    const touchesNext = next < this.#starts.length && this.#starts[next] === value + 1;
    if (touchesPrevious && touchesNext) {
      this.#ends[previous] = this.#ends[next] as number;
      this.#starts.splice(next, 1);
      this.#ends.splice(next, 1);
    } else if (touchesPrevious) this.#ends[previous] = value;
    else if (touchesNext) this.#starts[next] = value;
    else if (next === this.#starts.length) {
      this.#starts.push(value);
      this.#ends.push(value);
    } else {
      this.#starts.splice(next, 0, value);
      this.#ends.splice(next, 0, value);
    }
    return true;
  }

  has(value: number): boolean {
    const index = this.#after(value) - 1;
    return index >= 0 && (this.#ends[index] as number) >= value;
  }

  /** Index of the first run that starts after the value. */
  #after(value: number): number {
    let low = 0;
    let high = this.#starts.length;
    // Sequences come nearly in order, so the last run is looked at first.
    if (high > 0 && (this.#starts[high - 1] as number) <= value) return high;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#starts[middle] as number) <= value) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
