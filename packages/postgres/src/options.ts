import { checkWriteMap, destinationChoice, secretOption, writeMapOptions } from "@sinks/core";
import { z } from "zod";
import { givenEnvelopeKeys, optionFaults } from "./option-faults.js";
import { tableParts } from "./payload/identifier.js";
import { declaredStatements, writeVocabulary } from "./payload/write-vocabulary.js";
import { statementsOption } from "./statement/statement-options.js";

const duration = (fallback: number, description: string) => z.int().min(100).max(600_000).default(fallback).describe(description);
const fileName = (description: string) => z.string().min(1).nullable().default(null).describe(description);

const tls = z
  .strictObject({
    mode: z
      .enum(["disable", "prefer", "require", "verify_ca", "verify_full"])
      .default("prefer")
      .describe("What is asked of TLS; `verify_full` also checks that the certificate names the server."),
    ca_file: fileName("Certificates of the authorities that are trusted, PEM."),
    cert_file: fileName("Certificate shown to the server, PEM."),
    key_file: fileName("Key of that certificate, PEM."),
    server_name: fileName("Name that the server's certificate must have; the host's by default."),
  })
  .prefault({})
  .describe("Encryption of the connection.");

const tableName = (fallback: string, description: string) =>
  z
    .string()
    .refine((name) => tableParts(name, false) !== null, { error: "must be `t` or `schema.t`, each a plain name of up to 63 characters" })
    .default(fallback)
    .describe(description);

const ledger = z
  .strictObject({
    enabled: z.boolean().default(false).describe("Record each applied message in the database itself: any operation takes effect once."),
    name: z
      .string()
      .min(1)
      .max(255)
      .nullable()
      .default(null)
      .describe("Name of this pipeline in the ledger; stream, consumer and sink by default."),
    retention_seconds: z.int().min(60).max(315_360_000).default(604_800).describe("Records older than this are removed."),
    table: tableName("sinks_ledger", "Table of the ledger."),
    auto_create: z.boolean().default(true).describe("Make the table at start when it is missing."),
  })
  .prefault({})
  .describe("Destination-side record of applied messages (FW-LED).");

const shape = z.strictObject({
  ...secretOption("url", "Address of the database, `postgres:` or `postgresql:`; excludes host, port, database, user and password."),
  host: z
    .union([z.string().min(1), z.array(z.string().min(1)).min(1)])
    .nullable()
    .default(null)
    .describe("Name or address of the server; a list is tried in turn."),
  port: z.int().min(1).max(65_535).nullable().default(null).describe("Port of the server; 5432 by default."),
  database: z.string().min(1).nullable().default(null).describe("Name of the database."),
  user: z.string().min(1).nullable().default(null).describe("Role that logs in."),
  ...secretOption("password", "Password of that role."),
  target_session: z.enum(["any", "read_write"]).default("read_write").describe("`read_write` passes over a server that takes no writes."),
  tls,
  connections: z.int().min(1).max(32).default(2).describe("Connections that are kept; each carries one batch at a time."),
  application_name: z.string().min(1).max(63).default("sinks").describe("Name under which the server lists the connections."),
  connect_timeout_ms: duration(5000, "Longest wait for a connection to be made."),
  acquire_timeout_ms: duration(5000, "Longest wait of a batch for a free connection."),
  statement_timeout_ms: duration(30_000, "The server ends a statement that runs longer."),
  lock_timeout_ms: duration(10_000, "The server ends a statement that waits longer for a lock."),
  prepared_statements: z.boolean().default(true).describe("Keep plans on the connection; false for transaction poolers."),
  max_prepared: z.int().min(1).max(10_000).default(100).describe("Plans kept on one connection."),
  transaction: z
    .enum(["delivery", "run"])
    .default("delivery")
    .describe("One transaction for a whole batch, or one for each run of writes of one shape."),
  after_failure: z
    .enum(["continue", "stop"])
    .default("continue")
    .describe("What a message that can never be written means for those after it in its batch."),
  on_zero_rows: z.enum(["ignore", "warn", "fail"]).default("ignore").describe("What an update or delete without a matching row means."),
  max_chunk_bytes: z.int().min(1024).max(1_073_741_824).default(4_194_304).describe("Most bytes of values in one statement."),
  statements: statementsOption
    .default({})
    .describe("SQL that write rules and handlers may run by its name; compiled before any connection is opened."),
  table: tableName("sinks_messages", "Table that receives whole messages; only without `write`."),
  table_by: destinationChoice.nullable().default(null).describe("Choose the table by a subject token, in place of `table`."),
  ...writeMapOptions(writeVocabulary(true)),
  auto_create: z.boolean().default(false).describe("Make that table at start when it is missing."),
  payload_type: z
    .enum(["jsonb", "json", "text", "bytea"])
    .default("jsonb")
    .describe("Type of the payload column; `bytea` holds the bytes as delivered."),
  payload_mode: z
    .enum(["json_or_envelope", "json_only", "text_envelope", "bytes_envelope"])
    .default("json_or_envelope")
    .describe("How a body becomes JSON."),
  include_metadata: z.boolean().default(false).describe("Add the metadata snapshot to each row."),
  on_duplicate: z.enum(["ignore", "update"]).default("ignore").describe("What a row of the same message that is there already means."),
  ledger,
  retry_safety: z
    .enum(["narrowed", "table"])
    .default("narrowed")
    .describe("Judge a batch by its arguments too, or by its operations alone."),
  verify_statements: z.boolean().default(false).describe("Prepare each statement at start and warn of those that the server refuses."),
  allow_quoted_identifiers: z.boolean().default(false).describe("Allow any name of up to 63 bytes for columns and tables."),
  undefined_data: z.enum(["reject", "omit"]).default("reject").describe("What an undefined value at the top of `data` means."),
  nul: z
    .enum(["reject", "strip"])
    .default("reject")
    .describe("What the character U+0000, which PostgreSQL cannot hold, means for a message."),
  log_driver_messages: z.boolean().default(false).describe("Add the server's own words to the log of a failure; they may hold values."),
});

/** Every option as it is when it is not set. */
export const unsetOptions = shape.parse({});

/** Options of the PostgreSQL sink (WO-OPT-01). */
export const postgresOptions = shape
  .check(checkWriteMap(({ allow_quoted_identifiers: quoted }) => writeVocabulary(quoted === true), declaredStatements))
  .check(optionFaults(unsetOptions));

/** Validated options of the PostgreSQL sink. */
export type PostgresOptions = z.output<typeof postgresOptions>;

/** The first option that has no meaning where a handler makes the payloads, with what is wrong; null without any. */
export function handlerFault(options: PostgresOptions): string | null {
  if (options.write !== undefined) return "sink.write: a handler stands in its place; use one of the two";
  const [name] = givenEnvelopeKeys(options, unsetOptions);
  return name === undefined ? null : `sink.${name}: is for whole messages; it has no meaning with a handler`;
}
