import { ConfigurationError } from "@sinks/core";
import type { Session } from "../connection/session.js";
import { toPostgresError } from "../errors.js";
import { control } from "../execute/control.js";
import { quoteIdentifier, quoteTable } from "../payload/identifier.js";
import type { Query } from "../render/built-write.js";

/** Longest part of the table's name in that of its index; together they have at most 63 bytes. */
const longestStem = 52;

/** The statements that make the ledger's table (FW-LED-02); `name` is `t` or `schema.t`, as configured. */
export function ledgerStatements(name: string): readonly string[] {
  const table = quoteTable(name);
  const index = quoteIdentifier(`${name.slice(name.lastIndexOf(".") + 1).slice(0, longestStem)}_applied_at`);
  return [
    `CREATE TABLE IF NOT EXISTS ${table} (
  pipeline text,
  key text,
  applied_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (pipeline, key)
)`,
    `CREATE INDEX IF NOT EXISTS ${index} ON ${table} (applied_at)`,
  ];
}

/**
 * Makes the table when it is missing and `create` allows it, else throws a `ConfigurationError` that holds the statements.
 * What is there is left as it is, so that a role without the right to create can use it.
 */
export async function ensureLedgerTable(session: Session, name: string, create: boolean): Promise<void> {
  const table = quoteTable(name);
  const [found] = await ask(session, table, [query("SELECT to_regclass($1) IS NOT NULL", table)]);
  if (found?.rows[0]?.[0] === "t") return;
  const statements = ledgerStatements(name);
  if (!create) {
    throw new ConfigurationError(
      `the ledger's table ${table} is missing and ledger.auto_create is off; make it with:\n${statements.join(";\n")};`,
    );
  }
  // Two runners that start together would both find it missing: one waits for the other.
  const turn = query("SELECT pg_advisory_xact_lock(hashtext($1))", `sinks ledger ${table}`);
  await ask(session, table, [control.begin, turn, ...statements.map((text) => query(text)), control.commit]);
}

async function ask(session: Session, table: string, queries: readonly Query[]) {
  const { done, failure } = await session.pipeline(queries);
  if (failure === null) return done;
  if (failure.kind === "server" && queries.length > 1) await session.pipeline([control.rollback]);
  throw toPostgresError(failure, `ledger ${table}`, false);
}

function query(text: string, ...values: readonly string[]): Query {
  return { text, values, prepare: false };
}
