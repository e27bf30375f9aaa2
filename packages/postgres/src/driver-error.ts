/** What may be told of a driver's error: codes and names, never its text, DETAIL or values (WO-OB-03). */
export interface DriverError {
  /** SQLSTATE, or the system's or TLS's code; null when there is none. */
  readonly code: string | null;
  readonly severity: string | null;
  /** Function of the server's source that raised it. */
  readonly routine: string | null;
  readonly schema: string | null;
  readonly table: string | null;
  readonly column: string | null;
  readonly constraint: string | null;
  readonly dataType: string | null;
}

const classes: ReadonlyMap<string, string> = new Map([
  ["08", "connection exception"],
  ["0A", "feature not supported"],
  ["21", "cardinality violation"],
  ["22", "data exception"],
  ["23", "integrity constraint violation"],
  ["25", "invalid transaction state"],
  ["26", "invalid statement name"],
  ["28", "invalid authorization"],
  ["3D", "invalid database name"],
  ["3F", "invalid schema name"],
  ["40", "transaction rollback"],
  ["42", "syntax error or access rule violation"],
  ["44", "WITH CHECK OPTION violation"],
  ["53", "insufficient resources"],
  ["54", "program limit exceeded"],
  ["55", "object not in prerequisite state"],
  ["57", "operator intervention"],
  ["58", "system error"],
  ["P0", "PL/pgSQL error"],
  ["XX", "internal error"],
]);

/** Reads what may be told out of anything that was thrown. */
export function driverError(error: unknown): DriverError {
  const fields = (typeof error === "object" && error !== null ? error : {}) as Record<string, unknown>;
  const word = (name: string) => {
    const value = fields[name];
    return typeof value === "string" && value !== "" ? value : null;
  };
  return {
    code: word("code"),
    severity: word("severity"),
    routine: word("routine"),
    schema: word("schema"),
    table: word("table"),
    column: word("column"),
    constraint: word("constraint"),
    dataType: word("dataType"),
  };
}

/** The facts as the end of a sentence: `: SQLSTATE 23505 (integrity constraint violation), ERROR, table "public.readings", …`. */
export function facts(error: DriverError): string {
  const { code, severity, schema, table, column, constraint, dataType } = error;
  const parts: string[] = [];
  if (code !== null && severity === null) parts.push(code);
  else if (code !== null) parts.push(`SQLSTATE ${code} (${classes.get(code.slice(0, 2)) ?? `class ${code.slice(0, 2)}`})`);
  if (severity !== null) parts.push(severity);
  if (table !== null) parts.push(`table "${schema === null ? table : `${schema}.${table}`}"`);
  if (column !== null) parts.push(`column "${column}"`);
  if (constraint !== null) parts.push(`constraint "${constraint}"`);
  if (dataType !== null) parts.push(`type "${dataType}"`);
  return parts.length === 0 ? "" : `: ${parts.join(", ")}`;
}
