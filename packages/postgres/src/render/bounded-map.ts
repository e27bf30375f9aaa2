/** A map that forgets its oldest entry when it is full, so that no sender of messages decides how large it grows. */
export class BoundedMap<Value> {
  readonly #entries = new Map<string, Value>();
  readonly #limit: number;

  constructor(limit: number) {
    this.#limit = limit;
  }

  get(key: string): Value | undefined {
    return this.#entries.get(key);
  }

  /** Adds an entry and gives it back. */
  add(key: string, value: Value): Value {
    if (this.#entries.size >= this.#limit && !this.#entries.has(key)) {
      for (const oldest of this.#entries.keys()) {
        this.#entries.delete(oldest);
        break;
      }
    }
    this.#entries.set(key, value);
    return value;
  }
}
