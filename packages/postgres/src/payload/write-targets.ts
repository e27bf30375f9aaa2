import type { PostgresOptions } from "../options.js";
import type { TableRight } from "../table/table-facts.js";
import { tableParts } from "./identifier.js";

/** A table that a write map names, and what its rules need of it. */
export interface WriteTarget {
  /** As configured: `t` or `schema.t`. */
  readonly table: string;
  readonly columns: ReadonlySet<string>;
  readonly rights: ReadonlySet<TableRight>;
  /** Conflict columns of upserts; each needs a unique index of exactly these. */
  readonly conflicts: readonly (readonly string[])[];
}

const neededRights: Readonly<Record<string, readonly TableRight[]>> = {
  insert: ["INSERT"],
  update: ["UPDATE", "SELECT"],
  upsert: ["INSERT", "SELECT", "UPDATE"],
  delete: ["DELETE", "SELECT"],
};

/** The tables that the rules of a write map name, each once; what messages choose themselves is not among them. */
export function writeTargets(write: NonNullable<PostgresOptions["write"]>): readonly WriteTarget[] {
  const targets = new Map<string, { columns: Set<string>; rights: Set<TableRight>; conflicts: (readonly string[])[] }>();
  for (const rule of write) {
    const operation = typeof rule["op"] === "string" ? rule["op"] : "insert";
    for (const table of tablesOf(rule)) {
      const target = targets.get(table) ?? { columns: new Set(), rights: new Set(), conflicts: [] };
      for (const name of [...namesOf(rule["data"]), ...namesOf(rule["where"])]) target.columns.add(name);
      for (const right of neededRights[operation] ?? []) target.rights.add(right);
      if (Array.isArray(rule["conflict"])) {
        target.conflicts.push(rule["conflict"] as string[]);
        for (const name of rule["conflict"] as string[]) target.columns.add(name);
      }
      targets.set(table, target);
    }
  }
  return [...targets].map(([table, target]) => ({ table, ...target }));
}

function tablesOf(rule: Readonly<Record<string, unknown>>): readonly string[] {
  const choice = rule["table_by"] as { readonly allow?: readonly string[] } | undefined;
  const named = choice?.allow ?? (rule["table"] === undefined ? [] : [rule["table"]]);
  return named.flatMap((table) => tableParts(table, true)?.join(".") ?? []);
}

function namesOf(record: unknown): readonly string[] {
  return typeof record === "object" && record !== null ? Object.keys(record) : [];
}
