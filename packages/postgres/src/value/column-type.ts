/** The base type of a column, as far as the encoding of values depends on it (WO-VAL-11). */
export interface ColumnType {
  /** `json` and `jsonb` take JSON text, `array` a Postgres array, `scalar` one value. Domains follow their base type. */
  readonly kind: "json" | "jsonb" | "array" | "scalar";
  /** Name of the base type in the catalog: `int8`, `timestamptz`, `text`; with `array`, that of its elements. */
  readonly base: string;
}

/** Column names of one table and their types. */
export type TableTypes = ReadonlyMap<string, ColumnType>;
