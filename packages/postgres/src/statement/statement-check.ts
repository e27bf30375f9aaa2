import type { Sessions } from "../connection/session.js";
import { toPostgresError } from "../errors.js";
import type { TableFault } from "../table/table-fault.js";
import type { NamedStatements } from "./named-statement.js";

const name = "sinks_statement_check";

/** The statements that the server would refuse, found by preparing each and running none (WO-GEN-17). */
export async function statementFaults(
  statements: NamedStatements,
  sessions: Sessions,
  signal: AbortSignal,
): Promise<readonly TableFault[]> {
  const faults: TableFault[] = [];
  for (const statement of statements.values()) {
    // The server prepares no CALL.
    if (statement.sql.command === "call") continue;
    const { failure } = await sessions.use(signal, (session) =>
      session.pipeline(
        [`PREPARE ${name} AS ${statement.sql.text}`, `DEALLOCATE ${name}`].map((text) => ({ text, values: [], prepare: false })),
      ),
    );
    if (failure === null) continue;
    const error = toPostgresError(failure, `statement "${statement.name}"`, false);
    if (failure.kind === "lost") throw error;
    faults.push({ message: error.message, remedy: `correct sink.statements.${statement.name}, or make what it names` });
  }
  return faults;
}
