/** A way to store messages in which each must have exactly one row, and `verify` can tell. */
export interface PostgresMode {
  readonly name: string;
  readonly sink: object;
  /** What the database needs before. */
  readonly schema: readonly string[];
  /** Query for the stream sequences that are stored, one row each. */
  readonly stored: string;
}

/** Whole messages in the sink's own table. */
export const envelopeMode: PostgresMode = {
  name: "whole messages",
  sink: { auto_create: true, payload_mode: "json_only" },
  schema: [],
  stored: "SELECT stream_sequence FROM sinks_messages",
};

/** Plain inserts by a write map, whose ledger alone keeps a message from being stored twice. */
export const ledgerMode = {
  name: "inserts with a ledger",
  sink: { write: [{ table: "events", data: { sequence: ":stream_sequence", n: ":payload.n" } }], ledger: { enabled: true } },
  schema: ["CREATE TABLE events (sequence bigint NOT NULL, n int)"],
  stored: "SELECT sequence FROM events",
} as const satisfies PostgresMode;
