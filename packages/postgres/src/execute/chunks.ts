import { compareUtf8 } from "@sinks/core";
import type { BuiltWrite, Form, Query } from "../render/built-write.js";
import type { Run } from "./runs.js";

/** The writes of one statement: those from `from` up to, not including, `to`, all of one form. */
export interface Chunk {
  readonly form: Form;
  readonly from: number;
  readonly to: number;
}

/**
 * Cuts a run into statements (WO-PG-21, WO-PG-22): as many rows as the form takes and `maximumBytes` allow, at least one,
 * and none after a row whose conflict tuple comes again where a statement may hold it only once.
 */
export function chunksOf(writes: readonly BuiltWrite[], run: Run, maximumBytes: number): readonly Chunk[] {
  const { form } = run;
  const chunks: Chunk[] = [];
  const seen = new Set<string>();
  let from = run.from;
  let bytes = 0;
  for (let index = run.from; index < run.to; index += 1) {
    const { conflict, bytes: size } = writes[index] as BuiltWrite;
    const repeated = form.cutsAtRepeatedConflict && conflict !== null && seen.has(conflict);
    if (index > from && (repeated || index - from >= form.maximumRows || bytes + size > maximumBytes)) {
      chunks.push({ form, from, to: index });
      from = index;
      bytes = 0;
      seen.clear();
    }
    bytes += size;
    if (form.cutsAtRepeatedConflict && conflict !== null) seen.add(conflict);
  }
  chunks.push({ form, from, to: run.to });
  return chunks;
}

/** The chunk's statement, with its rows in the order that meets no deadlock between writers (WO-PG-22). */
export function chunkQuery(writes: readonly BuiltWrite[], chunk: Chunk): Query {
  const whole = chunk.from === 0 && chunk.to === writes.length;
  return chunk.form.query(sendingOrder(whole ? writes : writes.slice(chunk.from, chunk.to)));
}

/** The two halves of a chunk of at least two rows, in payload order (WO-PG-23). */
export function halvesOf({ form, from, to }: Chunk): readonly [Chunk, Chunk] {
  const middle = from + Math.ceil((to - from) / 2);
  return [
    { form, from, to: middle },
    { form, from: middle, to },
  ];
}

/** By conflict tuple when all tuples are distinct; rows without one conflict with nothing and go first. Else as given. */
function sendingOrder(rows: readonly BuiltWrite[]): readonly BuiltWrite[] {
  if (isSorted(rows)) return rows;
  const compare = rows.some(({ conflict }) => conflict !== null && surrogate.test(conflict)) ? compareUtf8 : byCodeUnit;
  const sorted = rows.toSorted((one, other) => compare(one.conflict ?? "", other.conflict ?? ""));
  const repeats = sorted.some(({ conflict }, index) => conflict !== null && index > 0 && sorted[index - 1]?.conflict === conflict);
  return repeats ? rows : sorted;
}

/** The usual case without a copy: no tuples at all, or rising ones. */
function isSorted(rows: readonly BuiltWrite[]): boolean {
  let last = "";
  for (const { conflict } of rows) {
    if (conflict === null ? last !== "" : conflict <= last || surrogate.test(conflict)) return false;
    if (conflict !== null) last = conflict;
  }
  return true;
}

const surrogate = /[\ud800-\udfff]/;

/** The order of UTF-8 bytes (WO-GEN-19) where no text holds a surrogate. */
function byCodeUnit(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}
