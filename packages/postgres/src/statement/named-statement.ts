import { ConfigurationError } from "@sinks/core";
import { type CompiledSql, compileStatement } from "./statement-compiler.js";
import { statementError } from "./statement-fault.js";
import type { StatementsOption } from "./statement-options.js";

/** A configured statement, compiled. */
export interface NamedStatement {
  readonly name: string;
  readonly sql: CompiledSql;
  /** What the operator says of it (WO-RT-05). */
  readonly idempotent: boolean;
  /** Its own word on a run without a row; null when the sink's holds (WO-PG-08). */
  readonly onZeroRows: "ignore" | "warn" | "fail" | null;
}

/** Compiled statements by name. */
export type NamedStatements = ReadonlyMap<string, NamedStatement>;

/** Compiles the statements of validated options; a text that does not compile throws a `ConfigurationError`. */
export function compileStatements(options: StatementsOption): NamedStatements {
  return new Map(
    Object.entries(options).map(([name, given]) => {
      const { sql, params, idempotent, on_zero_rows } =
        typeof given === "string" ? { sql: given, params: null, idempotent: false, on_zero_rows: null } : given;
      const result = compileStatement(sql, params);
      if (result.compiled !== null) return [name, { name, sql: result.compiled, idempotent, onZeroRows: on_zero_rows }];
      if (result.fault !== null) throw statementError(name, result.fault);
      const faults = result.params.map((fault) => `"${fault.name}": ${fault.reason}`).join("; ");
      throw new ConfigurationError(`statement "${name}", params: ${faults}`);
    }),
  );
}
