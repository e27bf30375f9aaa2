import { isPlainRecord } from "./plain-record.js";

/** What a rule that names no operation means to the built-in connectors (WO-GEN-01). */
const defaultOperations: ReadonlyMap<unknown, string> = new Map([
  ["postgres", "insert"],
  ["mongo", "insert"],
  ["redis", "set"],
]);

/** True when a write map has an operation besides `insert`, so that the order of messages matters (FW-CFG-09). */
export function writesBesidesInsert(sink: Readonly<Record<string, unknown>>): boolean {
  const rules = sink["write"];
  if (!Array.isArray(rules)) return false;
  const standard = defaultOperations.get(sink["type"]);
  return rules.some((rule: unknown) => isPlainRecord(rule) && (rule["op"] ?? standard) !== "insert");
}
