import type { NumberToken } from "@sinks/core";
import type { TableName } from "./identifier.js";
import type { JsonText } from "./json-text.js";
import type { AnyStatements, StatementPayload } from "./statement-payload.js";

/** A single value (WO-VAL-10). */
export type Scalar = string | number | bigint | boolean | null | Date | Uint8Array | NumberToken;

/** What a column may be given; objects and lists are encoded by the column's type (WO-VAL-11). */
export type ColumnValue = Scalar | JsonText | readonly unknown[] | { readonly [name: string]: unknown };

/** Values by column. */
export type Row = { readonly [column: string]: ColumnValue };

/** What a row must have to be touched: equal values, or null for a column without one (WO-PG-07). */
export type Predicate = { readonly [column: string]: Scalar };

/** Fields of other operations; said here because an insert need not name its operation. */
type Unused = { readonly [Field in "where" | "conflict" | "updateColumns" | "newestBy" | "statement" | "params"]?: undefined };

/** Adds a row. The operation of a payload that names none. */
export interface InsertPayload extends Unused {
  readonly op?: "insert";
  readonly table: TableName;
  readonly data: Row;
}

/** Changes the rows that match. */
export interface UpdatePayload {
  readonly op: "update";
  readonly table: TableName;
  readonly data: Row;
  readonly where: Predicate;
}

/** Adds a row, or changes the one that has its conflict columns. */
export interface UpsertPayload {
  readonly op: "upsert";
  readonly table: TableName;
  readonly data: Row;
  readonly conflict: readonly string[];
  /** Columns to overwrite; all but the conflict columns when absent, none when empty (WO-PG-09, -10). */
  readonly updateColumns?: readonly string[];
  /** The row is overwritten only by one with a higher value here (WO-PG-37). */
  readonly newestBy?: string;
}

/** Removes the rows that match. */
export interface DeletePayload {
  readonly op: "delete";
  readonly table: TableName;
  readonly where: Predicate;
}

/** A payload that names a table. */
export type TablePayload = InsertPayload | UpdatePayload | UpsertPayload | DeletePayload;

/** One planned write (WO-PG-01); statements and their params are typed from the configuration when it is a constant. */
export type PostgresPayload<Statements extends AnyStatements = AnyStatements> = TablePayload | StatementPayload<Statements>;
