/** Scalar types that a param may declare (WO-PGS-18). */
export const scalarTypes = [
  "bool",
  "int2",
  "int4",
  "int8",
  "float4",
  "float8",
  "numeric",
  "text",
  "uuid",
  "date",
  "timestamp",
  "timestamptz",
  "interval",
  "json",
  "jsonb",
  "bytea",
  "inet",
] as const;

/** Name of a scalar type. */
export type ScalarType = (typeof scalarTypes)[number];

/** A declared type as it is written: `int8`, `text?`, `uuid[]`, `int4[]?`. */
export type ParamTypeText = `${ScalarType}${"" | "[]"}${"" | "?"}`;

/** A declared type. */
export interface ParamType {
  readonly base: ScalarType;
  readonly array: boolean;
  readonly nullable: boolean;
}

/** Reads a declared type; null when it is none. */
export function parseParamType(text: string): ParamType | null {
  const nullable = text.endsWith("?");
  const type = nullable ? text.slice(0, -1) : text;
  const array = type.endsWith("[]");
  const base = array ? type.slice(0, -2) : type;
  return (scalarTypes as readonly string[]).includes(base) ? { base: base as ScalarType, array, nullable } : null;
}

/** The type as the server reads it in a cast. */
export function castName({ base, array }: ParamType): string {
  return array ? `${base}[]` : base;
}
