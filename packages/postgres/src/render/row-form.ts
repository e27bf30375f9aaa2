import { quoteIdentifier } from "../payload/identifier.js";
import type { TargetTable } from "../payload/target-table.js";
import type { BoundValue, BuiltWrite, Form, Query } from "./built-write.js";
import { maximumParameters } from "./maximum-parameters.js";

/** A plan of more parameters costs the server megabytes for as long as the connection lives (WO-PG-33). */
const mostPreparedParameters = 8192;

/** What an upsert does about a row that is there. */
export interface ConflictTail {
  readonly conflict: readonly string[];
  /** Columns to overwrite; none means that the row stays as it is. */
  readonly update: readonly string[];
  readonly newestBy: string | null;
  /** True when the data has all conflict columns. */
  readonly complete: boolean;
}

/** The form of inserts and upserts: neighbours join in one statement of several rows (WO-PG-02, -04, -16). */
export function createRowForm(
  table: TargetTable,
  columns: readonly string[],
  tail: ConflictTail | null,
  valuesList: (columns: number, rows: number) => string,
): Form {
  const repeats = createRepeats(Math.floor(mostPreparedParameters / columns.length));
  const head = `INSERT INTO ${table.text} (${columns.map(quoteIdentifier).join(", ")}) VALUES `;
  const end = tail === null ? "" : tailText(table, tail);
  return Object.freeze({
    operation: tail === null ? "insert" : "upsert",
    destination: table.label,
    table: table.text,
    maximumRows: Math.max(1, Math.floor(maximumParameters / columns.length)),
    cutsAtRepeatedConflict: tail?.complete === true && tail.update.length > 0,
    // A row that is there already, or is newer, is what the operation asks for (WO-PG-10, -37).
    onZeroRows: "ignore",
    query: (rows: readonly BuiltWrite[]): Query => ({
      text: head + valuesList(columns.length, rows.length) + end,
      values: joinValues(rows),
      prepare: repeats(rows.length),
    }),
  });
}

function tailText(table: TargetTable, { conflict, update, newestBy }: ConflictTail): string {
  const target = ` ON CONFLICT (${conflict.map(quoteIdentifier).join(", ")}) DO `;
  if (update.length === 0) return `${target}NOTHING`;
  const set = update.map((name) => `${quoteIdentifier(name)} = EXCLUDED.${quoteIdentifier(name)}`).join(", ");
  const newest = newestBy === null ? null : quoteIdentifier(newestBy);
  return `${target}UPDATE SET ${set}${newest === null ? "" : ` WHERE ${table.text}.${newest} < EXCLUDED.${newest}`}`;
}

function joinValues(rows: readonly BuiltWrite[]): readonly BoundValue[] {
  const [first] = rows;
  if (rows.length === 1 && first !== undefined) return first.values;
  const values: BoundValue[] = [];
  for (const row of rows) for (const value of row.values) values.push(value);
  return values;
}

/** Row counts that are remembered; batches under load have few sizes. */
const rememberedCounts = 16;

/**
 * Says of a row count whether its plan is worth keeping: it came before, lately, and has no more rows than `most` (WO-PG-33).
 * Sizes that adaptive batches have once leave nothing on the server.
 */
function createRepeats(most: number): (count: number) => boolean {
  const recent: number[] = [];
  return (count) => {
    if (count > most) return false;
    if (recent.includes(count)) return true;
    recent.push(count);
    if (recent.length > rememberedCounts) recent.shift();
    return false;
  };
}
