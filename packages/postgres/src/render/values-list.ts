import { BoundedMap } from "./bounded-map.js";

/** Lists that are kept; a pipeline writes few sizes again and again. */
const limit = 16;

/** Text of the rows of a VALUES list: `($1, $2), ($3, $4)` (WO-PG-16). The last ones are kept, since they are long. */
export function createValuesLists(): (columns: number, rows: number) => string {
  const kept = new BoundedMap<string>(limit);
  return (columns, rows) => {
    if (rows === 0) return "";
    const key = `${columns}x${rows}`;
    return kept.get(key) ?? kept.add(key, valuesList(columns, rows));
  };
}

function valuesList(columns: number, rows: number): string {
  const tuples: string[] = [];
  for (let row = 0; row < rows; row += 1) {
    let tuple = `($${row * columns + 1}`;
    for (let column = 2; column <= columns; column += 1) tuple += `, $${row * columns + column}`;
    tuples.push(`${tuple})`);
  }
  return tuples.join(", ");
}
