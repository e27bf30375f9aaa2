import type { Session, SessionFailure } from "../connection/session.js";
import type { ColumnType, TableTypes } from "../value/column-type.js";

/** The types of a table, or why they could not be read. */
export type TypesResult =
  | { readonly types: TableTypes; readonly failure: null }
  | { readonly types: null; readonly failure: SessionFailure };

/** Follows domains to their base and arrays to their elements; a table that is not there fails with 42P01. */
const columnTypes = `
WITH RECURSIVE step AS (
  SELECT attname AS name, atttypid AS type, false AS is_array
  FROM pg_catalog.pg_attribute WHERE attrelid = $1::pg_catalog.regclass AND attnum > 0 AND NOT attisdropped
UNION ALL
  SELECT s.name, CASE t.typtype WHEN 'd' THEN t.typbasetype ELSE t.typelem END, s.is_array OR t.typtype <> 'd'
  FROM step s JOIN pg_catalog.pg_type t ON t.oid = s.type
  WHERE t.typtype = 'd' OR (t.typcategory = 'A' AND t.typelem <> 0 AND NOT s.is_array)
)
SELECT s.name, s.is_array, t.typname FROM step s JOIN pg_catalog.pg_type t ON t.oid = s.type
WHERE t.typtype <> 'd' AND (s.is_array OR t.typcategory <> 'A' OR t.typelem = 0)`;

/** Codes after which a table is no longer what it was: unknown column, unknown table, wrong type. */
const changed: ReadonlySet<string> = new Set(["42703", "42P01", "42804"]);

/** Column types by table, read once per table and kept until something says that they changed (WO-VAL-11). */
export class Catalog {
  readonly #tables = new Map<string, TableTypes>();
  #age = 0;

  /** The types of a table as far as they were read; null for one that is not known. */
  known(table: string): TableTypes | null {
    return this.#tables.get(table) ?? null;
  }

  /** The types of a table whose name is quoted as SQL has it. Must not be called inside of a transaction that shall live on. */
  async types(session: Session, table: string): Promise<TypesResult> {
    const known = this.#tables.get(table);
    if (known !== undefined) return { types: known, failure: null };
    const age = this.#age;
    const { done, failure } = await session.pipeline([{ text: columnTypes, values: [table], prepare: false }]);
    if (failure !== null) return { types: null, failure };
    const types = new Map(
      (done[0]?.rows ?? []).map(([name, isArray, base]) => [name ?? "", columnType(isArray === "t", base ?? "")] as const),
    );
    // What was read before something changed may be of before.
    if (age === this.#age) this.#tables.set(table, types);
    return { types, failure: null };
  }

  /** Takes note of the code of a failed write. */
  learn(code: string | null): void {
    if (code !== null && changed.has(code)) this.clear();
  }

  /** Forgets everything, as after a new connection: the server may be another one. */
  clear(): void {
    this.#age += 1;
    this.#tables.clear();
  }
}

function columnType(isArray: boolean, base: string): ColumnType {
  if (isArray) return { kind: "array", base };
  return { kind: base === "json" || base === "jsonb" ? base : "scalar", base };
}
