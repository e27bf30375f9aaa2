import type { TableRight } from "./table-facts.js";
import type { TableFault } from "./table-fault.js";

/** What the role of the sink may not do on a table and must, with the grant that mends it; `table` is quoted. */
export function rightFaults(table: string, needed: Iterable<TableRight>, rights: ReadonlySet<TableRight>): readonly TableFault[] {
  const missing = [...needed].filter((right) => !rights.has(right)).join(", ");
  if (missing === "") return [];
  return [{ message: `the role may not ${missing} on table ${table}`, remedy: `GRANT ${missing} ON ${table} TO the role of the sink` }];
}
