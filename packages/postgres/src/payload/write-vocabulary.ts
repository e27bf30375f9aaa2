import type { DeclaredTexts, RuleFault, WriteField, WriteOperation, WriteVocabulary } from "@sinks/core";
import { z } from "zod";
import { compileStatement } from "../statement/statement-compiler.js";
import { checkPayload } from "./check-payload.js";

const columns = z.array(z.string().min(1));
const table: WriteField = {
  kind: "literal",
  description: "Table: `t` or `schema.t`, or a list of both.",
  schema: z.union([z.string().min(1), z.tuple([z.string().min(1), z.string().min(1)])]),
  chosenBy: "table_by",
};
const data: WriteField = { kind: "record", description: "Values by column.", wholeReference: true };
const where: WriteField = { kind: "record", description: "Values that a row must have; null for a column without one." };
const conflict: WriteField = { kind: "literal", description: "Columns of the unique key.", schema: columns };
const updateColumns: WriteField = {
  kind: "literal",
  description: "Columns that an existing row is given; all others of `data` by default, none when empty.",
  schema: columns,
  mayBeEmpty: true,
};
const newestBy: WriteField = {
  kind: "literal",
  description: "An existing row is changed only by a higher value of this column.",
  schema: z.string().min(1),
};
const statement: WriteField = {
  kind: "literal",
  description: "Name of a statement in `statements`.",
  schema: z.string().min(1),
  declares: { params: "params" },
};
const params: WriteField = { kind: "record", description: "Values of the statement's placeholders." };

/** The operations of a write map (WO-PG-01), under their names in a configuration. */
const operations: Readonly<Record<string, WriteOperation>> = {
  insert: { required: { table, data } },
  update: { required: { table, data, where } },
  upsert: { required: { table, data, conflict }, optional: { update_columns: updateColumns, newest_by: newestBy } },
  delete: { required: { table, where } },
  statement: { required: { statement }, optional: { params } },
};

/** The statements that the options declare with the parameters of each; null when they do not compile, which is told elsewhere. */
export function declaredStatements(options: Readonly<Record<string, unknown>>): DeclaredTexts | null {
  const given = options["statements"];
  if (typeof given !== "object" || given === null) return { statement: new Map() };
  const found = new Map<string, readonly string[]>();
  for (const [name, entry] of Object.entries(given as Record<string, unknown>)) {
    const sql = typeof entry === "string" ? entry : (entry as { sql?: unknown } | null)?.sql;
    const compiled = typeof sql === "string" ? compileStatement(sql).compiled : null;
    if (compiled === null) return null;
    found.set(name, compiled.names);
  }
  return { statement: found };
}

/** The vocabulary of write maps whose names must be plain, or may be any that fits between double quotes (WO-PG-15). */
export function writeVocabulary(allowQuoted: boolean): WriteVocabulary {
  return { defaultOperation: "insert", operations, check: (operation, fields) => nameFaults(operation, fields, allowQuoted) };
}

/** What is wrong with the names in a rule, whatever its references give (WO-PG-11, -13, -14). */
function nameFaults(operation: string, fields: Readonly<Record<string, unknown>>, allowQuoted: boolean): readonly RuleFault[] {
  const { table_by: choice, ...given } = fields;
  const wanted = Object.keys(operations[operation]?.required ?? {}).filter((name) => name !== "table");
  // What is missing is told by the contract of the operation.
  if (operation === "statement" || wanted.some((name) => given[name] === undefined)) return [];
  const tables = choice === undefined ? [given["table"]] : ((choice as { allow?: unknown }).allow as unknown[] | undefined);
  if (!Array.isArray(tables) || tables.some((name) => name === undefined)) return [];
  const settings = { allowQuotedIdentifiers: allowQuoted, undefinedData: "reject" } as const;
  // One reference may give the whole of `data`; its names are then judged message by message.
  const data = typeof given["data"] === "string" ? { column: null } : given["data"];
  const faults = new Set<string>();
  for (const table of tables) {
    try {
      checkPayload({ op: operation, ...given, ...(data === undefined ? {} : { data }), table }, settings);
    } catch (error) {
      faults.add(error instanceof Error ? error.message.replace(/^PostgreSQL payload, [a-z]+: /, "") : "has a name that is none");
    }
  }
  return [...faults].map((message) => ({ path: [], message }));
}
