import { compareUtf8 } from "@sinks/core";
import type { TablePayload } from "../payload/payload.js";
import type { TargetTable } from "../payload/target-table.js";

/** The names of a payload by what becomes of them. */
export interface ShapeNames {
  /** Columns that get a value. */
  readonly data: readonly string[];
  /** Columns of the predicate that are compared with a value. */
  readonly equal: readonly string[];
  /** Columns of the predicate that must be null (WO-PG-07). */
  readonly absent: readonly string[];
}

const none: readonly string[] = Object.freeze([]);

/** Names in the order given; `omit` leaves out data that is undefined (WO-VAL-01). */
export function namesOf(payload: TablePayload, omit: boolean): ShapeNames {
  const data = payload.op === "delete" ? none : dataNames(payload.data, omit);
  if (payload.op !== "update" && payload.op !== "delete") return { data, equal: none, absent: none };
  const { where } = payload;
  const equal: string[] = [];
  const absent: string[] = [];
  for (const name of Object.keys(where)) (where[name] === null ? absent : equal).push(name);
  return { data, equal, absent };
}

function dataNames(data: Readonly<Record<string, unknown>>, omit: boolean): readonly string[] {
  const names = Object.keys(data);
  return omit ? names.filter((name) => data[name] !== undefined) : names;
}

/** The same names, each group sorted (WO-PG-05). */
export function sortNames({ data, equal, absent }: ShapeNames): ShapeNames {
  return { data: data.toSorted(compareUtf8), equal: equal.toSorted(compareUtf8), absent: absent.toSorted(compareUtf8) };
}

/** A key that two payloads share only when all their names are the same, in the same order. */
export function namesKey(payload: TablePayload, table: TargetTable, { data, equal, absent }: ShapeNames): string {
  const start = `${payload.op ?? "insert"}|${table.text}${listKey(data)}`;
  if (payload.op === "update" || payload.op === "delete") return start + listKey(equal) + listKey(absent);
  if (payload.op !== "upsert") return start;
  const { conflict, updateColumns, newestBy } = payload;
  return `${start}${listKey(conflict)}${updateColumns === undefined ? "" : listKey(updateColumns)}|${newestBy === undefined ? "" : listKey([newestBy])}`;
}

/** Each name with its length, so that no two lists give one text whatever stands in their names. */
function listKey(names: readonly string[]): string {
  let text = "|";
  for (const name of names) text += `${name.length}:${name}`;
  return text;
}
