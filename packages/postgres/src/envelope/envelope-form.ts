import type { PostgresOptions } from "../options.js";
import type { BuiltWrite, Form, Query } from "../render/built-write.js";
import { maximumParameters } from "../render/maximum-parameters.js";
import { columnArrays } from "../value/column-arrays.js";
import { identityColumns } from "./envelope-table.js";

/** What shapes the statement that stores whole messages. */
export interface EnvelopeFormSettings {
  /** As configured. */
  readonly destination: string;
  /** Quoted. */
  readonly table: string;
  /** The table's own primary key, in its order. */
  readonly primaryKey: readonly string[];
  readonly payloadType: PostgresOptions["payload_type"];
  readonly onDuplicate: PostgresOptions["on_duplicate"];
}

interface StoredColumn {
  readonly name: string;
  /** The value of one row, from the element of its own array. */
  readonly from: (element: string) => string;
}

const asIs = (element: string) => element;
const castTo = (type: string) => (element: string) => `${element}::${type}`;
const castOr = (type: string, fallback: string) => (element: string) => `coalesce(${element}::${type}, '${fallback}')`;

/** The columns that travel, one array each, in the order of a row's values. */
const travelling = (payloadType: string): readonly StoredColumn[] => [
  { name: "stream", from: asIs },
  { name: "stream_created_ns", from: castTo("bigint") },
  { name: "stream_sequence", from: castTo("bigint") },
  { name: "subject", from: asIs },
  { name: "message_id", from: asIs },
  { name: "published_at_ns", from: castTo("bigint") },
  { name: "priority", from: asIs },
  { name: "classification", from: asIs },
  { name: "labels", from: castOr("text[]", "{}") },
  { name: "headers", from: castOr("jsonb", "{}") },
  { name: "payload", from: payloadType === "text" ? asIs : castTo(payloadType) },
  { name: "mission_metadata", from: castTo("jsonb") },
  { name: "security_labels", from: castTo("jsonb") },
  { name: "custody", from: castTo("jsonb") },
  { name: "metadata", from: castTo("jsonb") },
];

function statement({ table, primaryKey, payloadType, onDuplicate }: EnvelopeFormSettings): string {
  const columns = travelling(payloadType);
  const element = (index: number) => `c${index + 1}`;
  const nanoseconds = `${element(columns.findIndex(({ name }) => name === "published_at_ns"))}::bigint`;
  // Whole microseconds: the server would round the nanoseconds, and two times of one message must not differ (WO-VAL-06).
  const publishedAt = `timestamptz 'epoch' + interval '1 microsecond' * (${nanoseconds} / 1000)`;
  const names = [...columns.map(({ name }) => name), "published_at"];
  const values = [...columns.map(({ from }, index) => from(element(index))), publishedAt];
  const arrays = columns.map((_, index) => `$${index + 1}::text[]`).join(", ");
  const elements = columns.map((_, index) => element(index)).join(", ");
  const updated = names.filter((name) => !primaryKey.includes(name)).map((name) => `${name} = EXCLUDED.${name}`);
  const conflict = onDuplicate === "update" ? `DO UPDATE SET ${updated.join(", ")}, stored_at = clock_timestamp()` : "DO NOTHING";
  return (
    `INSERT INTO ${table} (${names.join(", ")}) SELECT ${values.join(", ")} ` +
    `FROM unnest(${arrays}) AS m(${elements}) ON CONFLICT (${primaryKey.join(", ")}) ${conflict}`
  );
}

/**
 * The form that stores whole messages (WO-ENV-02): one text for any number of rows, each column bound as one array. A column
 * without any value is bound as NULL, which unnest fills up.
 */
export function envelopeForm(settings: EnvelopeFormSettings): Form {
  const text = statement(settings);
  return {
    operation: "envelope",
    destination: settings.destination,
    table: null,
    // Arrays are bound: only the bytes of a chunk bound it before this does.
    maximumRows: maximumParameters,
    cutsAtRepeatedConflict: settings.onDuplicate === "update",
    onZeroRows: "ignore",
    query: (rows: readonly BuiltWrite[]): Query => ({ text, values: columnArrays(rows), prepare: true }),
  };
}

/** The statement that says which messages are there: one row of `position` for each one found. */
export function lookupStatement(table: string): string {
  const [stream, created, sequence] = identityColumns;
  return (
    `SELECT k.position FROM unnest($1::text[], $2::text[], $3::text[]) WITH ORDINALITY AS k(s, c, q, position) ` +
    `WHERE EXISTS (SELECT FROM ${table} m WHERE m.${stream} = k.s AND m.${created} = k.c::bigint AND m.${sequence} = k.q::bigint)`
  );
}
