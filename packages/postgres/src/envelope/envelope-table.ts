import type { PostgresOptions } from "../options.js";

/** What decides the shape of the table of whole messages. */
export type EnvelopeTableOptions = Pick<PostgresOptions, "payload_type">;

/** One column of the table of whole messages (WO-ENV-01). */
export interface EnvelopeColumn {
  readonly name: string;
  /** Type and constraints as `create table` takes them. */
  readonly definition: string;
  /** Names of the type in the catalog that will do. */
  readonly types: readonly string[];
}

/** The columns that identify a message, in their order in the primary key. */
export const identityColumns = ["stream", "stream_created_ns", "stream_sequence"] as const;

/** Columns that are functions of a message and may therefore stand in the primary key too (WO-ENV-02). */
export const partitionColumns: readonly string[] = ["published_at", "subject"];

const column = (name: string, type: string, rest = "", types = [type]): EnvelopeColumn => ({
  name,
  definition: rest === "" ? type : `${type} ${rest}`,
  types,
});

/** The columns of the table in order; names are fixed. */
export function envelopeColumns({ payload_type: payload }: EnvelopeTableOptions): readonly EnvelopeColumn[] {
  return [
    column("stream", "text", "not null"),
    column("stream_created_ns", "bigint", "not null", ["int8"]),
    column("stream_sequence", "bigint", "not null", ["int8"]),
    column("subject", "text", "not null"),
    column("message_id", "text"),
    column("published_at", "timestamptz"),
    column("published_at_ns", "bigint", "", ["int8"]),
    column("priority", "text"),
    column("classification", "text"),
    column("labels", "text[]", "not null default '{}'", ["_text"]),
    column("headers", "jsonb", "not null default '{}'"),
    column("payload", payload),
    column("mission_metadata", "jsonb"),
    column("security_labels", "jsonb"),
    column("custody", "jsonb"),
    column("metadata", "jsonb"),
    column("stored_at", "timestamptz", "not null default clock_timestamp()"),
  ];
}

/** The statement that makes the table; `table` is quoted already. */
export function createEnvelopeTable(table: string, options: EnvelopeTableOptions): string {
  const lines = envelopeColumns(options).map(({ name, definition }) => `  ${name} ${definition}`);
  return `CREATE TABLE IF NOT EXISTS ${table} (\n${[...lines, `  PRIMARY KEY (${identityColumns.join(", ")})`].join(",\n")}\n)`;
}
