import type { PipelineResult, Session, SessionFailure } from "../connection/session.js";
import type { Query } from "../render/built-write.js";
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

  /** Grows whenever everything is forgotten: what was built at another age may be of other types. */
  get age(): number {
    return this.#age;
  }

  /** The types of a table as far as they were read; null for one that is not known. */
  known(table: string): TableTypes | null {
    return this.#tables.get(table) ?? null;
  }

  /** The types of a table whose name is quoted as SQL has it. Must not be called inside of a transaction that shall live on. */
  async types(session: Session, table: string): Promise<TypesResult> {
    const known = this.#tables.get(table);
    if (known !== undefined) return { types: known, failure: null };
    const age = this.#age;
    const { done, failure } = await session.pipeline([typesQuery(table)]);
    if (failure !== null) return { types: null, failure };
    const types = typesOf(done[0]?.rows ?? []);
    // What was read before something changed may be of before.
    if (age === this.#age) this.#tables.set(table, types);
    return { types, failure: null };
  }

  /** Takes note of the code of a failed write; answers whether a table is no longer what it was. */
  learn(code: string | null): boolean {
    const says = code !== null && changed.has(code);
    if (says) this.clear();
    return says;
  }

  /**
   * Finds out whether a table has other types than were known at that age, and then forgets everything: a value that the
   * server or the build refuses for its type may be good for the new one.
   */
  async isOutdated(age: number, ask: (queries: readonly Query[]) => Promise<Pick<PipelineResult, "done" | "failure">>): Promise<boolean> {
    if (age !== this.#age) return true;
    const known = [...this.#tables];
    if (known.length === 0) return false;
    const { done, failure } = await ask(known.map(([table]) => typesQuery(table)));
    if (failure?.kind === "lost") return false;
    const same = failure === null && known.every(([, types], index) => areEqual(types, typesOf(done[index]?.rows ?? [])));
    if (!same && age === this.#age) this.clear();
    return !same;
  }

  /** Forgets everything, as after a new connection: the server may be another one. */
  clear(): void {
    this.#age += 1;
    this.#tables.clear();
  }
}

function typesQuery(table: string): Query {
  return { text: columnTypes, values: [table], prepare: false };
}

function typesOf(rows: readonly (readonly (string | null)[])[]): TableTypes {
  return new Map(rows.map(([name, isArray, base]) => [name ?? "", columnType(isArray === "t", base ?? "")] as const));
}

function areEqual(one: TableTypes, other: TableTypes): boolean {
  if (one.size !== other.size) return false;
  return [...one].every(([name, { kind, base }]) => other.get(name)?.kind === kind && other.get(name)?.base === base);
}

function columnType(isArray: boolean, base: string): ColumnType {
  if (isArray) return { kind: "array", base };
  return { kind: base === "json" || base === "jsonb" ? base : "scalar", base };
}
