import type { Session } from "../connection/session.js";
import { toPostgresError } from "../errors.js";

/** What the catalog says of one column. */
export interface ColumnFacts {
  /** Name of the type in the catalog, of the base type for a domain: `int8`, `_text`. */
  readonly type: string;
  readonly required: boolean;
  /** The server gives a value where none is sent: a default, an identity, a generated column. */
  readonly filled: boolean;
}

/** What the catalog says of one table, and what the own role may do with it. */
export interface TableFacts {
  readonly columns: ReadonlyMap<string, ColumnFacts>;
  /** Columns of the primary key in its order; empty without one. */
  readonly primaryKey: readonly string[];
  /** Columns of each unique index that covers all rows and holds plain columns only, the primary key among them. */
  readonly uniqueKeys: readonly (readonly string[])[];
  readonly rights: ReadonlySet<TableRight>;
}

/** A right on a table. */
export type TableRight = "INSERT" | "SELECT" | "UPDATE" | "DELETE";

const rights: readonly TableRight[] = ["INSERT", "SELECT", "UPDATE", "DELETE"];

const existence = `SELECT to_regclass($1)::oid::text, ${rights.map((right) => `has_table_privilege(to_regclass($1), '${right}')`).join(", ")}`;

const columnQuery = `SELECT a.attname, coalesce(nullif(b.typname, ''), t.typname), a.attnotnull,
  a.atthasdef OR a.attidentity <> '' OR a.attgenerated <> ''
  FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid LEFT JOIN pg_type b ON b.oid = nullif(t.typbasetype, 0)
  WHERE a.attrelid = to_regclass($1) AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum`;

const keyQuery = `SELECT i.indexrelid::text, i.indisprimary, a.attname
  FROM pg_index i CROSS JOIN unnest(i.indkey[0:i.indnkeyatts - 1]) WITH ORDINALITY AS k(attnum, position)
  JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = k.attnum
  WHERE i.indrelid = to_regclass($1) AND i.indisunique AND i.indisvalid AND i.indpred IS NULL AND i.indexprs IS NULL
  ORDER BY i.indisprimary DESC, i.indexrelid, k.position`;

/** Reads the facts of a table, its name quoted; null when there is no such table. */
export async function readTableFacts(session: Session, table: string): Promise<TableFacts | null> {
  const { done, failure } = await session.pipeline(
    [existence, columnQuery, keyQuery].map((text) => ({ text, values: [table], prepare: false })),
  );
  if (failure !== null) throw toPostgresError(failure, table, false);
  const [found, columns, keys] = done.map(({ rows }) => rows) as [Rows, Rows, Rows];
  const [oid, ...granted] = found[0] ?? [];
  if (oid === null || oid === undefined) return null;
  const uniqueKeys = keysOf(keys);
  return {
    columns: new Map(
      columns.map(([name, type, required, filled]) => [
        String(name),
        { type: String(type), required: required === "t", filled: filled === "t" },
      ]),
    ),
    primaryKey: keys.some(([, primary]) => primary === "t") ? (uniqueKeys[0] ?? []) : [],
    uniqueKeys,
    rights: new Set(rights.filter((_, index) => granted[index] === "t")),
  };
}

type Rows = readonly (readonly (string | null)[])[];

function keysOf(rows: Rows): string[][] {
  const keys = new Map<string, string[]>();
  for (const [index, , name] of rows) {
    const key = keys.get(String(index)) ?? [];
    key.push(String(name));
    keys.set(String(index), key);
  }
  return [...keys.values()];
}
