import { ConfigurationError } from "@sinks/core";
import { expect, test } from "vitest";
import { postgresOptions } from "../src/options.js";
import { compileStatements } from "../src/statement/named-statement.js";

const faults = (statements: unknown) => {
  const parsed = postgresOptions.safeParse({ url: "postgres://localhost/yard", statements });
  return parsed.success ? [] : parsed.error.issues.map(({ path, message }) => `${path.join(".")}: ${message}`);
};

test("WO-PGS-01 WO-OPT-01 a statement is text, or text with what is said of it", () => {
  const { statements } = postgresOptions.parse({
    url: "postgres://u@h/d",
    statements: {
      park_pallet: "UPDATE pallets SET lane = :lane WHERE code = :code",
      note: { sql: "SELECT add_note(:id, :note)", params: { id: "int8", note: "text?" }, idempotent: true, on_zero_rows: "fail" },
    },
  });
  const compiled = compileStatements(statements);
  expect(compiled.get("park_pallet")).toEqual({
    name: "park_pallet",
    sql: { command: "update", text: "UPDATE pallets SET lane = $1 WHERE code = $2", names: ["lane", "code"], types: null },
    idempotent: false,
    onZeroRows: null,
  });
  expect(compiled.get("note")).toMatchObject({
    sql: { text: "SELECT add_note($1::int8, $2::text)", types: [{ base: "int8" }, { base: "text", nullable: true }] },
    idempotent: true,
    onZeroRows: "fail",
  });
  expect(postgresOptions.parse({ url: "postgres://u@h/d" }).statements).toEqual({});
});

test("WO-GEN-16 all faults are reported together, each with its path, line and column, and never the text", () => {
  expect(
    faults({
      park_pallet: { sql: "UPDATE secret_lots SET a = :a\n WHERE b = b:c" },
      drop_all: "DROP TABLE secret_lots",
      note: { sql: "SELECT :id, :note", params: { id: "int16", extra: "text" } },
      odd: { sql: "SELECT 1", idempotant: true },
    }),
  ).toEqual([
    "statements.park_pallet.sql: line 2, column 13: a placeholder is glued to what stands before it: put a space between them",
    "statements.drop_all: line 1, column 1: a statement begins with INSERT, UPDATE, DELETE, MERGE, WITH, SELECT or CALL",
    "statements.note.params.extra: the statement does not use it",
    expect.stringMatching(/^statements\.note\.params\.id: no known type; the types are bool/),
    "statements.note.params.note: undeclared: the statement uses it",
    'statements.odd: Unrecognized key: "idempotant"',
  ]);
});

test.each(["Park", "1st", "", "a-b", "a\n", "é"])("WO-GEN-06 %j is no name of a statement", (name) => {
  expect(faults({ [name]: "SELECT 1" })).toHaveLength(1);
});

test("WO-PGS-15 a text that reaches the compiler unchecked is a configuration error that names statement, line and column", () => {
  const error = (statements: Parameters<typeof compileStatements>[0]) => {
    try {
      return compileStatements(statements);
    } catch (caught) {
      return caught;
    }
  };
  expect(error({ park: "SELECT 'open" })).toBeInstanceOf(ConfigurationError);
  expect(error({ park: "SELECT 'open" })).toMatchObject({
    message: 'statement "park", line 1, column 8: a string that begins here is not terminated',
  });
  expect(error({ park: { sql: "SELECT :a", params: {}, idempotent: false, on_zero_rows: null } })).toMatchObject({
    message: 'statement "park", params: "a": undeclared: the statement uses it',
  });
});
