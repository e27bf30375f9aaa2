import { rightFaults } from "../table/right-faults.js";
import type { TableFacts } from "../table/table-facts.js";
import type { TableFault } from "../table/table-fault.js";
import { quoteIdentifier, quoteTable } from "./identifier.js";
import type { WriteTarget } from "./write-targets.js";

/** What a table lacks of what the write map needs, each with the DDL that mends it. Null facts: it is not there. */
export function targetFaults(target: WriteTarget, facts: TableFacts | null): readonly TableFault[] {
  const table = quoteTable(target.table);
  if (facts === null) {
    return [
      { message: `table ${table} is not there`, remedy: `make it; the rules write ${[...target.columns].map(quoteIdentifier).join(", ")}` },
    ];
  }
  return [...columnFaults(table, target, facts), ...keyFaults(table, target, facts), ...rightFaults(table, target.rights, facts.rights)];
}

function columnFaults(table: string, { columns }: WriteTarget, facts: TableFacts): TableFault[] {
  return [...columns]
    .filter((name) => !facts.columns.has(name))
    .map((name) => ({
      message: `table ${table} has no column ${quoteIdentifier(name)}`,
      remedy: `ALTER TABLE ${table} ADD COLUMN ${quoteIdentifier(name)} …`,
    }));
}

function keyFaults(table: string, { conflicts }: WriteTarget, { uniqueKeys }: TableFacts): TableFault[] {
  const same = (left: readonly string[], right: readonly string[]) =>
    left.length === right.length && left.every((name) => right.includes(name));
  return conflicts
    .filter((conflict) => !uniqueKeys.some((key) => same(key, conflict)))
    .map((conflict) => {
      const names = conflict.map(quoteIdentifier).join(", ");
      return { message: `table ${table} has no unique index on exactly (${names})`, remedy: `CREATE UNIQUE INDEX ON ${table} (${names})` };
    });
}
