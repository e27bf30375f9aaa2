import { expect, test } from "vitest";
import { envelopeTableFaults } from "../src/envelope/envelope-check.js";
import { envelopeColumns, identityColumns } from "../src/envelope/envelope-table.js";
import { targetFaults } from "../src/payload/target-check.js";
import type { TableFacts, TableRight } from "../src/table/table-facts.js";
import { withoutJsonNul } from "../src/value/json-nul.js";

const options = { payload_type: "jsonb", on_duplicate: "update" } as const;
const facts = (...rights: readonly TableRight[]): TableFacts => ({
  columns: new Map(envelopeColumns(options).map(({ name, types }) => [name, { type: types[0] ?? "", required: false, filled: false }])),
  primaryKey: identityColumns,
  uniqueKeys: [identityColumns],
  rights: new Set(rights),
});

test("WO-ERR-05 a right that is missing is named with its grant, alike for whole messages and for write maps", () => {
  const fault = { message: 'the role may not UPDATE on table "t"', remedy: 'GRANT UPDATE ON "t" TO the role of the sink' };
  expect(envelopeTableFaults('"t"', facts("INSERT", "SELECT"), options)).toEqual([fault]);
  expect(envelopeTableFaults('"t"', facts("INSERT", "SELECT"), { ...options, on_duplicate: "ignore" })).toEqual([]);
  const target = { table: "t", columns: new Set<string>(), rights: new Set(["INSERT", "UPDATE"] as const), conflicts: [] };
  expect(targetFaults(target, facts("INSERT"))).toEqual([fault]);
});

test("WO-VAL-07 U+0000 goes out of JSON where it is one, and an escaped backslash before its digits stays", () => {
  expect(withoutJsonNul(String.raw`"a\u0000b\\u0000\\\u0000\u00e9"`)).toBe(String.raw`"ab\\u0000\\\u00e9"`);
});
