/** A value that cannot be bound: why, and where inside the value it stands. The text never holds the value. */
export class ValueFault extends Error {
  /** Path below the value, such as `[2].kg`; empty for the value itself. */
  readonly path: string;

  constructor(reason: string, path = "") {
    super(reason);
    this.path = path;
  }
}

/** The fault as seen from one step further out. */
export function faultBelow(step: string, error: unknown): unknown {
  return error instanceof ValueFault ? new ValueFault(error.message, `${step}${error.path}`) : error;
}
