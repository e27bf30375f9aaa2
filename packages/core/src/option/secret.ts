import { z } from "zod";

const brand: unique symbol = Symbol.for("sinks.secret") as never;
const redacted = "[redacted]";

/** Text that must not be shown: it prints `[redacted]` wherever it is printed, logged or serialised (FW-CFG-04). */
export class Secret {
  readonly #value: string;
  /** @internal */
  readonly [brand] = true;

  constructor(value: string) {
    this.#value = value;
    Object.defineProperty(this, brand, { enumerable: false });
  }

  /** The text itself; call it only where it is handed to a client. */
  reveal(): string {
    return this.#value;
  }

  toString(): string {
    return redacted;
  }

  toJSON(): string {
    return redacted;
  }

  [Symbol.for("nodejs.util.inspect.custom")](): string {
    return redacted;
  }
}

/** True for a secret, also one made by another installed copy of this package. */
export function isSecret(value: unknown): value is Secret {
  return typeof value === "object" && value !== null && (value as Record<symbol, unknown>)[brand] === true;
}

/** Marks that the schema of a secret carries, read by redaction, resolution and the reference. */
export const secretMarks = { secret: "x-sinks-secret", variable: "x-sinks-secret-variable", headers: "x-sinks-secret-headers" } as const;

/** Name of an environment variable that holds a secret. */
export const variableName = z.string().regex(/^[A-Za-z_][A-Za-z0-9_]{0,127}$/, { error: "must be the name of an environment variable" });

/** Inline secret text: a string in the file, a `Secret` once parsed. */
export const secretText = z
  .preprocess((value) => (isSecret(value) ? value.reveal() : value), z.string().regex(/\S/, { error: "must not be blank" }))
  .transform((value) => new Secret(value));

type SecretPair<Name extends string> = { [Key in Name]: z.ZodPrefault<z.ZodNullable<typeof secretText>> } & {
  [Key in `${Name}_env`]: z.ZodDefault<z.ZodNullable<typeof variableName>>;
};

/**
 * The pair of keys `x` and `x_env` for one secret: inline, or the name of an environment variable, never both. Spread it
 * into an options schema; both are null when unset, and `resolveSecrets` fills `x` from the variable.
 */
export function secretOption<Name extends string>(name: Name, description: string): SecretPair<Name> {
  return {
    [name]: secretText
      .nullable()
      .prefault(null)
      .describe(description)
      .meta({ [secretMarks.secret]: true }),
    [`${name}_env`]: variableName
      .nullable()
      .default(null)
      .describe(`Environment variable that holds \`${name}\`; use one of the two.`)
      .meta({ [secretMarks.variable]: name }),
  } as unknown as SecretPair<Name>;
}
