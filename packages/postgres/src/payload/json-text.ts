const brand: unique symbol = Symbol.for("sinks.postgres.json") as never;

/** A value that is sent as JSON text whatever the type of its column (WO-VAL-12). */
export class JsonText {
  readonly value: unknown;
  /** @internal Recognised by brand, so that two installed copies agree. */
  readonly [brand]: true = true;

  constructor(value: unknown) {
    this.value = value;
    Object.freeze(this);
  }
}

/** Marks a value of `data` or `params` as JSON: `json("a")` is sent as `"a"`, `json(null)` as the JSON `null`. */
export function json(value: unknown): JsonText {
  return new JsonText(value);
}

/** True for a value marked by `json`. */
export function isJsonText(value: unknown): value is JsonText {
  return typeof value === "object" && value !== null && (value as Record<symbol, unknown>)[brand] === true;
}
