import type { PipelineResult, Session, SessionFailure } from "../connection/session.js";
import { type Verdict, verdictOf } from "../errors.js";
import { BoundedMap } from "../render/bounded-map.js";
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

/** Verdicts that say something of the table, or of the right to see it; any other may pass. */
const ofTable: ReadonlySet<Verdict> = new Set<Verdict>(["schema", "right", "permanent"]);

/** Tables that are kept; a message may choose among any number. */
const mostTables = 1000;

/** The types that writes were built with, by quoted table; null for a table that could not be looked at. */
export type BuiltTypes = ReadonlyMap<string, TableTypes | null>;

interface Entry {
  readonly types: TableTypes | null;
  /** Age of the catalog when it was read; one of another age is read again. */
  readonly age: number;
}

const doubted = -1;

/**
 * Column types by table, read once per table and kept until something says that they changed (WO-VAL-11). What is in doubt is
 * read again and compared with what it was: only where it differs, or a configured name failed, did the tables change.
 */
export class Catalog {
  readonly #tables = new BoundedMap<Entry>(mostTables);
  #age = 0;
  #changes = 0;

  /** Grows with each change of a table that was found out: plans made before may be of other types. */
  get changes(): number {
    return this.#changes;
  }

  /** The types of a table as far as they were read; null for one that is not known. */
  known(table: string): TableTypes | null {
    const entry = this.#tables.get(table);
    return entry?.age === this.#age ? entry.types : null;
  }

  /** The types of a table whose name is quoted as SQL has it. Must not be called inside of a transaction that shall live on. */
  async types(session: Session, table: string): Promise<TypesResult> {
    const known = this.known(table);
    if (known !== null) return { types: known, failure: null };
    const age = this.#age;
    const before = this.#tables.get(table);
    const { done, failure } = await session.pipeline([typesQuery(table)]);
    if (failure !== null) return { types: null, failure };
    const types = typesOf(done[0]?.rows ?? []);
    const old = before?.types ?? null;
    if (old !== null && !areEqual(old, types)) this.#changes += 1;
    // What was read before something changed may be of before.
    if (age === this.#age && before === this.#tables.get(table)) this.#tables.add(table, { types, age });
    return { types, failure: null };
  }

  /** Takes note of the code of a failed write of these tables, whose names are all configured. */
  learn(code: string | null, tables: Iterable<string>): void {
    if (code === null || !changed.has(code)) return;
    this.#changes += 1;
    for (const table of tables) this.#doubt(table);
  }

  /**
   * Finds out whether one of these tables has other types now than writes were built with: a value that the server or the build
   * refuses for its type may be good for the new one. Where it cannot be found out the answer is yes: nobody is to be blamed.
   */
  async haveChanged(built: BuiltTypes, ask: Ask): Promise<boolean> {
    let found = false;
    for (const [table, types] of built) {
      const { done, failure } = await ask([typesQuery(table)]);
      if (failure !== null && !tellsOfTable(failure)) return true;
      const now = failure === null ? typesOf(done[0]?.rows ?? []) : null;
      if (now === null || types === null ? now === types : areEqual(types, now)) continue;
      found = true;
      this.#changes += 1;
      this.#doubt(table);
    }
    return found;
  }

  /** Every table is to be read again, as after a new connection: the server may be another one. */
  doubtAll(): void {
    this.#age += 1;
  }

  #doubt(table: string): void {
    this.#tables.add(table, { types: this.#tables.get(table)?.types ?? null, age: doubted });
  }
}

/** Asks the server on a connection at hand. */
type Ask = (queries: readonly Query[]) => Promise<Pick<PipelineResult, "done" | "failure">>;

/** True when a failed reading says that the table cannot be looked at, and not only that it cannot be at present. */
export function tellsOfTable(failure: SessionFailure): boolean {
  return ofTable.has(verdictOf(failure));
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
