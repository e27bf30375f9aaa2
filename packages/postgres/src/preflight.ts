import type { Check, PreflightOccasion } from "@sinks/core";
import type { Sessions } from "./connection/session.js";
import { query } from "./connection/session-query.js";
import { ledgerStatements } from "./ledger/ledger-table.js";
import type { PostgresOptions } from "./options.js";
import { quoteTable } from "./payload/identifier.js";
import { rightFaults } from "./table/right-faults.js";
import { readTableFacts } from "./table/table-facts.js";
import type { TableFault } from "./table/table-fault.js";
import type { WriteMode } from "./write-mode.js";

/** What is to be checked, and for what. */
export interface DestinationInquiry {
  readonly mode: WriteMode;
  readonly options: PostgresOptions;
  readonly occasion: PreflightOccasion;
}

/**
 * Checks the database without writing: the login, TLS, durability, tables, columns, keys and rights (FW-CLI-06). Before a
 * start only tables of the sink's own: what others lack holds messages until it is mended (WO-GEN-17, WO-ERR-05).
 */
export async function checkDestination(
  sessions: Sessions,
  { mode, options, occasion }: DestinationInquiry,
  signal: AbortSignal,
): Promise<readonly Check[]> {
  const asksTables = occasion === "inspection" || mode.ownsTables;
  return [
    await connectionCheck(sessions, signal),
    tlsCheck(options),
    await durabilityCheck(sessions, signal),
    ...(asksTables ? faultChecks("tables", "tables, columns, keys and rights are as needed", await mode.faults(sessions, signal)) : []),
    ...(options.ledger.enabled
      ? faultChecks("ledger", "the ledger's table is there or can be made", await ledgerFaults(sessions, options, signal))
      : []),
  ];
}

/** What keeps the server from flushing a commit before it is reported, for the log and the checks; null when nothing does (WO-OPT-05). */
export async function durabilityWarning(sessions: Sessions, signal: AbortSignal): Promise<string | null> {
  const { rows } = await sessions.use(signal, (session) =>
    query(session, "the database", "SELECT current_setting('synchronous_commit'), current_setting('fsync')"),
  );
  const [synchronous, flushes] = rows[0] ?? [];
  if (flushes === "off") return "the server runs with fsync = off: a crash of its machine may lose what it reported as committed";
  if (synchronous === "off") return "synchronous_commit is off: a crash of the server may lose what it reported as committed";
  return null;
}

async function connectionCheck(sessions: Sessions, signal: AbortSignal): Promise<Check> {
  const { rows } = await sessions.use(signal, (session) => query(session, "the database", "SHOW server_version"));
  return passed("connection", `connected to PostgreSQL ${rows[0]?.[0]?.split(" ")[0] ?? ""}`);
}

function tlsCheck({ tls }: PostgresOptions): Check {
  if (tls.mode === "verify_full") return passed("tls", "the server's certificate and name are verified");
  return warned(
    "tls",
    `tls.mode is ${tls.mode}: the server's name is not verified`,
    "set sink.tls.mode to verify_full where the network is not your own",
  );
}

async function durabilityCheck(sessions: Sessions, signal: AbortSignal): Promise<Check> {
  const warning = await durabilityWarning(sessions, signal);
  if (warning === null) return passed("durability", "a commit is on disk before it is reported");
  return warned("durability", warning, "turn it on, unless you mean it so");
}

async function ledgerFaults(sessions: Sessions, { ledger }: PostgresOptions, signal: AbortSignal): Promise<readonly TableFault[]> {
  const table = quoteTable(ledger.table);
  const facts = await sessions.use(signal, (session) => readTableFacts(session, table));
  if (facts === null)
    return ledger.auto_create ? [] : [{ message: `table ${table} is not there`, remedy: ledgerStatements(ledger.table).join("; ") }];
  return rightFaults(table, ["INSERT", "SELECT", "DELETE"], facts.rights);
}

function faultChecks(id: string, allRight: string, faults: readonly TableFault[]): Check[] {
  if (faults.length === 0) return [passed(id, allRight)];
  return faults.map(({ message, remedy }) => ({ id, status: "fail", message, remedy }));
}

function passed(id: string, message: string): Check {
  return { id, status: "pass", message, remedy: null };
}

function warned(id: string, message: string, remedy: string): Check {
  return { id, status: "warn", message, remedy };
}
