const brand: unique symbol = Symbol.for("sinks.untyped-text") as never;

/**
 * Text of an override for a key whose declared type is not known yet: keys of the sink belong to its connector, which
 * is found later. It prints as `[override]`, since the key may turn out to be a secret.
 */
export class UntypedText {
  readonly #text: string;
  /** Where it came from: the variable's name, or `--set`. */
  readonly source: string;
  /** @internal */
  readonly [brand] = true;

  constructor(text: string, source: string) {
    this.#text = text;
    this.source = source;
    Object.defineProperty(this, brand, { enumerable: false });
  }

  reveal(): string {
    return this.#text;
  }

  toString(): string {
    return "[override]";
  }

  toJSON(): string {
    return "[override]";
  }

  [Symbol.for("nodejs.util.inspect.custom")](): string {
    return "[override]";
  }
}

/** True for override text that waits for its type. */
export function isUntypedText(value: unknown): value is UntypedText {
  return typeof value === "object" && value !== null && (value as Record<symbol, unknown>)[brand] === true;
}
