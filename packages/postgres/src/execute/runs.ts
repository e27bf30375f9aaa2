import type { BuiltWrite, Form } from "../render/built-write.js";

/** A stretch of adjacent writes of one shape (WO-PG-20): those from `from` up to, not including, `to`. */
export interface Run {
  readonly form: Form;
  readonly from: number;
  readonly to: number;
}

/** Joins neighbours of one shape; never reorders (WO-GEN-11). */
export function runsOf(writes: readonly BuiltWrite[]): readonly Run[] {
  const runs: Run[] = [];
  let from = 0;
  while (from < writes.length) {
    const { form } = writes[from] as BuiltWrite;
    let to = from + 1;
    while (to < writes.length && (writes[to] as BuiltWrite).form === form) to += 1;
    runs.push({ form, from, to });
    from = to;
  }
  return runs;
}
