import type { PostgresOptions } from "../options.js";
import { quoteIdentifier } from "../payload/identifier.js";
import { rightFaults } from "../table/right-faults.js";
import type { TableFacts, TableRight } from "../table/table-facts.js";
import type { TableFault } from "../table/table-fault.js";
import { createEnvelopeTable, envelopeColumns, identityColumns, partitionColumns } from "./envelope-table.js";

/** Options that the table must suit. */
export type EnvelopeCheckOptions = Pick<PostgresOptions, "payload_type" | "on_duplicate">;

const neededRights: Readonly<Record<PostgresOptions["on_duplicate"], readonly TableRight[]>> = {
  ignore: ["INSERT", "SELECT"],
  update: ["INSERT", "SELECT", "UPDATE"],
};

/** What is wrong with a table for whole messages (WO-ENV-02, WO-ERR-05); `table` is quoted. Null facts: it is not there. */
export function envelopeTableFaults(table: string, facts: TableFacts | null, options: EnvelopeCheckOptions): readonly TableFault[] {
  if (facts === null) {
    return [
      {
        message: `table ${table} is not there`,
        remedy: `set sink.auto_create, or make it: ${oneLine(createEnvelopeTable(table, options))}`,
      },
    ];
  }
  return [
    ...columnFaults(table, facts, options),
    ...keyFaults(table, facts),
    ...rightFaults(table, neededRights[options.on_duplicate], facts.rights),
  ];
}

/** The DDL as one line, as it stands in an error. */
function oneLine(ddl: string): string {
  return ddl.replace(/\s+/g, " ");
}

function columnFaults(table: string, { columns }: TableFacts, options: EnvelopeCheckOptions): TableFault[] {
  const wanted = envelopeColumns(options);
  const ownNames = new Set(wanted.map(({ name }) => name));
  const own = wanted.flatMap(({ name, definition, types }) => {
    const found = columns.get(name);
    if (found === undefined)
      return [{ message: `table ${table} has no column ${name}`, remedy: `ALTER TABLE ${table} ADD COLUMN ${name} ${definition}` }];
    if (types.includes(found.type)) return [];
    const remedy =
      name === "payload"
        ? "set sink.payload_type to the type of the column, or name another table"
        : `use a table whose ${name} is ${types[0]}`;
    return [{ message: `column ${name} of table ${table} is ${found.type}, not ${types[0]}`, remedy }];
  });
  const others = [...columns].filter(([name, { required, filled }]) => !ownNames.has(name) && required && !filled);
  return [
    ...own,
    ...others.map(([name]) => ({
      message: `column ${quoteIdentifier(name)} of table ${table} demands a value that no message has`,
      remedy: `ALTER TABLE ${table} ALTER COLUMN ${quoteIdentifier(name)} SET DEFAULT …`,
    })),
  ];
}

function keyFaults(table: string, { primaryKey }: TableFacts): TableFault[] {
  const others = primaryKey.filter((name) => !(identityColumns as readonly string[]).includes(name) && !partitionColumns.includes(name));
  const whole = identityColumns.every((name) => primaryKey.includes(name));
  if (whole && others.length === 0) return [];
  return [
    {
      message: `the primary key of table ${table} is not (${identityColumns.join(", ")})`,
      remedy: `ALTER TABLE ${table} ADD PRIMARY KEY (${identityColumns.join(", ")}); besides them it may hold ${partitionColumns.join(" and ")}`,
    },
  ];
}
