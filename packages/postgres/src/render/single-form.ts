import { quoteIdentifier } from "../payload/identifier.js";
import type { TargetTable } from "../payload/target-table.js";
import type { BuiltWrite, Form, Operation } from "./built-write.js";

/** The form of updates, deletes and statements: one text, with a set of values per write (WO-PG-24). */
export function createSingleForm(
  operation: Operation,
  { destination, table }: Pick<Form, "destination" | "table">,
  text: string,
  onZeroRows: Form["onZeroRows"],
): Form {
  return Object.freeze({
    operation,
    destination,
    table,
    maximumRows: 1,
    cutsAtRepeatedConflict: false,
    onZeroRows,
    query: ([write]: readonly BuiltWrite[]) => ({ text, values: write?.values ?? [], prepare: true }),
  });
}

/** Text of an update; the values of SET come first (WO-PG-03). */
export function updateText(table: TargetTable, set: readonly string[], equal: readonly string[], absent: readonly string[]): string {
  const assignments = set.map((name, index) => `${quoteIdentifier(name)} = $${index + 1}`).join(", ");
  return `UPDATE ${table.text} SET ${assignments} WHERE ${predicateText(equal, absent, set.length)}`;
}

/** Text of a delete (WO-PG-36). */
export function deleteText(table: TargetTable, equal: readonly string[], absent: readonly string[]): string {
  return `DELETE FROM ${table.text} WHERE ${predicateText(equal, absent, 0)}`;
}

/** Equalities first, then the tests for null, each group in its order (WO-PG-07). */
function predicateText(equal: readonly string[], absent: readonly string[], bound: number): string {
  const tests = [
    ...equal.map((name, index) => `${quoteIdentifier(name)} = $${bound + index + 1}`),
    ...absent.map((name) => `${quoteIdentifier(name)} IS NULL`),
  ];
  return tests.join(" AND ");
}
