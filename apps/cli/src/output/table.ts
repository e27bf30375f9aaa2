import { escapeControls } from "./escape.js";

/** Text in columns: a heading row, then one row each, two spaces between; the last column is not padded. */
export function table(headings: readonly string[], rows: readonly (readonly string[])[], heading: (text: string) => string): string {
  const cells = [headings, ...rows].map((row) => row.map((cell) => escapeControls(cell)));
  const widths = headings.map((_, column) => Math.max(...cells.map((row) => row[column]?.length ?? 0)));
  const lines = cells.map((row) =>
    row
      .map((cell, column) => (column === row.length - 1 ? cell : cell.padEnd(widths[column] ?? 0)))
      .join("  ")
      .trimEnd(),
  );
  return `${[heading(lines[0] ?? ""), ...lines.slice(1)].join("\n")}\n`;
}

/** Names and values, one pair a line, values aligned. */
export function pairs(entries: readonly (readonly [string, string])[]): string {
  const width = Math.max(0, ...entries.map(([name]) => name.length));
  return entries
    .map(([name, value]) => `${escapeControls(name).padEnd(width)}  ${escapeControls(value)}`.trimEnd())
    .join("\n")
    .concat("\n");
}
