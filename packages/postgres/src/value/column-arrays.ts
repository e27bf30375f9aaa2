import type { BoundValue, BuiltWrite } from "../render/built-write.js";
import { textArray } from "./text-array.js";

/** The values of some rows by column, each column one array; one without any value is NULL, which `unnest` fills up. */
export function columnArrays(rows: readonly BuiltWrite[]): readonly (Buffer | null)[] {
  const width = rows[0]?.values.length ?? 0;
  const arrays: (Buffer | null)[] = [];
  for (let index = 0; index < width; index += 1) {
    const column: BoundValue[] = new Array(rows.length);
    let given = false;
    for (let row = 0; row < rows.length; row += 1) {
      const value = (rows[row] as BuiltWrite).values[index] as BoundValue;
      column[row] = value;
      if (value !== null) given = true;
    }
    arrays.push(given ? textArray(column) : null);
  }
  return arrays;
}
