import fc from "fast-check";
import { expect, test } from "vitest";
import { lexSql } from "../src/statement/sql-lexer.js";
import { compileStatement } from "../src/statement/statement-compiler.js";

type Params = Readonly<Record<string, string>>;
interface Vector {
  readonly id: string;
  readonly sql: string;
  readonly text?: string;
  readonly names?: readonly string[];
  readonly error?: RegExp;
  readonly params?: Params;
}

/** Texts that do not begin with a keyword stand after `SELECT `, as in section 10.2. */
const sql = (text: string) => (/^(?:UPDATE|CALL|DELETE|BEGIN|SET|COPY|DROP|INSERT|WITH) /.test(text) ? text : `SELECT ${text}`);
const good = (id: string, text: string, compiled: string, names: readonly string[] = [], params?: Params): Vector => ({
  id,
  sql: sql(text),
  text: sql(compiled),
  names,
  ...(params && { params }),
});
const same = (id: string, text: string): Vector => good(id, text, text);
const bad = (id: string, text: string, error: RegExp, params?: Params): Vector => ({
  id,
  sql: sql(text),
  error,
  ...(params && { params }),
});
const whole = (id: string, text: string, error: RegExp): Vector => ({ id, sql: text, error });

const vectors: readonly Vector[] = [
  good("C01", "UPDATE lots SET a = :w, b = :w WHERE id = :lot", "UPDATE lots SET a = $1, b = $1 WHERE id = $2", ["w", "lot"]),
  good("C02", ":b, :a, :b", "$1, $2, $1", ["b", "a"]),
  same("C03", "1"),
  good("C04", "'it''s :no', :y", "'it''s :no', $1", ["y"]),
  good("C05", "E'it\\'s :no', :y", "E'it\\'s :no', $1", ["y"]),
  good("C06", "e'\\\\', :y", "e'\\\\', $1", ["y"]),
  good("C07", "'a\\', :y", "'a\\', $1", ["y"]),
  good("C08", "E'a'\n'b\\':no', :y", "E'a'\n'b\\':no', $1", ["y"]),
  good("C09", '"col:no", "q"":no", :y', '"col:no", "q"":no", $1', ["y"]),
  good("C10", "$$ :no $$, :y", "$$ :no $$, $1", ["y"]),
  good("C11", "$f$ $$ :no $g$ $f$, :y", "$f$ $$ :no $g$ $f$, $1", ["y"]),
  good("C12", "$метка$ :no ' $метка$, :y", "$метка$ :no ' $метка$, $1", ["y"]),
  good("C13", "1 -- :no '\n + :y", "1 -- :no '\n + $1", ["y"]),
  good("C14", "1 -- :no\r + :y", "1 -- :no\r + $1", ["y"]),
  good("C15", "/* a /* :no */ :no */ :y", "/* a /* :no */ :no */ $1", ["y"]),
  good("C16 WO-PGS-08", ":v::text", "$1::text", ["v"]),
  good("C17 WO-PGS-08", "x:::y", "x::$1", ["y"]),
  good("C18 WO-PGS-08", "CALL load_lot(lot := :n)", "CALL load_lot(lot := $1)", ["n"]),
  ...["arr[1:3]", "arr[:3]", "arr[2:]", "arr[:]"].map((text) => same("C19", text)),
  same("C20", "arr[lo : hi]"),
  good("C21", "arr[1 : :n]", "arr[1 : $1]", ["n"]),
  good("C22", "arr[:a : :b]", "arr[$1 : $2]", ["a", "b"]),
  good("C23", "ARRAY[:a, :b]", "ARRAY[$1, $2]", ["a", "b"]),
  bad("C24", "arr[lo:hi]", /line 1, column 14: a slice or a placeholder.*\[lo : hi\].*\[1 : :n\]/),
  bad("C25", "arr[1:n]", /slice or a placeholder/),
  bad("C26", "arr[f(1):n]", /slice or a placeholder/),
  good("C27", "tab$1.c, :y FROM tab$1", "tab$1.c, $1 FROM tab$1", ["y"]),
  good("C28", "1 AS a$b$c, :y", "1 AS a$b$c, $1", ["y"]),
  bad("C29", "$1", /positional/),
  bad("C30 WO-PGS-03", ":größe", /name of a placeholder/),
  bad("C31 WO-PGS-03", ":v$x", /name of a placeholder/),
  bad("C32 WO-PGS-11", "b:c", /glued/),
  ...[":1", ": a", "a :"].map((text) => bad("C33 WO-PGS-11", text, /opens neither a placeholder/)),
  ...[":'v'", ':"v"'].map((text) => bad("C34 WO-PGS-11", text, /quoted placeholders are not supported/)),
  bad("C35", "'open :x", /line 1, column 8: a string that begins here is not terminated/),
  bad("C36", '"open', /quoted identifier .* not terminated/),
  bad("C36", "/* open /* */", /comment .* not terminated/),
  bad("C36", "$q$ open $$", /dollar-quoted string .* not terminated/),
  bad("C37", ":a; DELETE FROM lots", /line 1, column 12: a statement is one command/),
  good("C38", ":a; -- done", "$1; -- done", ["a"]),
  good("C39", "DELETE FROM lots WHERE k @? :p OR d ?& :q", "DELETE FROM lots WHERE k @? $1 OR d ?& $2", ["p", "q"]),
  ...["BEGIN", "SET x = 1", "COPY t FROM stdin", "DROP TABLE t"].map((text) => whole("C40", text, /begins with INSERT, UPDATE/)),
  ...["", "   \n", "-- only", "/* only */"].map((text) => whole("C41", text, /line 1, column 1: the statement is empty/)),
  good("C42", ":id, :note", "$1::int8, $2::text", ["id", "note"], { id: "int8", note: "text?" }),
  bad("C43", ":id, :note", /note: undeclared/, { id: "int8" }),
  bad("C44", "UPDATE t SET a = :a\n WHERE b = b:c", /line 2, column 13: .*glued/),
  same("C45", "U&'\\0041 :no', X'1F', nate'x'"),
];

function outcome({ sql: text, params }: Vector): string | { text: string; names: readonly string[] } {
  const result = compileStatement(text, params ?? null);
  if (result.compiled !== null) return { text: result.compiled.text, names: result.compiled.names };
  const { fault } = result;
  return [
    ...(fault === null ? [] : [`line ${fault.line}, column ${fault.column}: ${fault.reason}`]),
    ...result.params.map(({ name, reason }) => `${name}: ${reason}`),
  ].join("\n");
}

test.each(vectors)("$id $sql", (vector) => {
  const found = outcome(vector);
  if (vector.error === undefined) expect(found).toEqual({ text: vector.text, names: vector.names });
  else expect(found).toMatch(vector.error);
});

test("WO-PGS-05 the prefix E is a whole token, and a string that goes on keeps its mode across comments to the end of a line", () => {
  expect(outcome({ id: "", sql: "SELECT nate'\\', :y" })).toEqual({ text: "SELECT nate'\\', $1", names: ["y"] });
  expect(outcome({ id: "", sql: "SELECT E'a' -- c\n'b\\':no', :y" })).toEqual({ text: "SELECT E'a' -- c\n'b\\':no', $1", names: ["y"] });
  expect(outcome({ id: "", sql: "SELECT E'a' 'b\\', :y" })).toEqual({ text: "SELECT E'a' 'b\\', $1", names: ["y"] });
});

test("WO-PGS-09 a lone dollar is copied, unless a parameter after it would open a dollar quote", () => {
  expect(outcome({ id: "", sql: "SELECT $ + :y" })).toEqual({ text: "SELECT $ + $1", names: ["y"] });
  expect(outcome({ id: "", sql: "SELECT $:y" })).toMatch(/glued/);
});

test("WO-PGS-07 letters and dollar signs glued to a number are refused: servers disagree on what they mean", () => {
  for (const text of ["1e'\\'", "1a", "1.5x", "$1a", "0x1g", "5e1$", "1é"]) {
    expect(outcome({ id: "", sql: `SELECT ${text}` })).toMatch(/a number is followed directly by a letter/);
  }
  for (const text of ["0x1F", "0b01", "0o17", "1_000", "1.5e-3", ".5", "5.", "1..2"]) {
    expect(outcome({ id: "", sql: `SELECT ${text}` })).toEqual({ text: `SELECT ${text}`, names: [] });
  }
});

test("WO-PGS-10 a placeholder may follow a bracket, white space, a comma, an operator or a parenthesis", () => {
  const text = "SELECT a[:a], a[1, :a], a[-:a], a[1 :a], a[(:a)], a[1::int4], a[/* c */:a]";
  expect(outcome({ id: "", sql: text })).toEqual({ text: text.replaceAll(":a", "$1"), names: ["a"] });
  for (const before of ["a[b]", '"a"', "'a'", "$$a$$", "2"]) expect(outcome({ id: "", sql: `SELECT x[${before}:n]` })).toMatch(/slice/);
});

test("WO-PGS-12 an open bracket is named with its place", () => {
  expect(outcome({ id: "", sql: "SELECT a[b[1], 2" })).toBe("line 1, column 9: a bracket that opens here is not closed");
});

test("WO-PGS-13 a second semicolon is no comment", () => {
  expect(outcome({ id: "", sql: "SELECT 1;;" })).toMatch(/one command/);
});

test("WO-PGS-15 65535 names are the most", () => {
  const names = Array.from({ length: 65_536 }, (_, index) => `:p${index}`);
  expect(outcome({ id: "", sql: `SELECT ${names.slice(0, 65_535).join(",")}` })).toMatchObject({ names: { length: 65_535 } });
  expect(outcome({ id: "", sql: `SELECT\n${names.join(",\n")}` })).toBe("line 65537, column 1: more than 65535 different names");
});

test("WO-PGS-15 lines end at LF, CR or both, and columns count characters", () => {
  expect(outcome({ id: "", sql: "SELECT 1,\r\n2,\r'😀', b:c" })).toMatch(/^line 3, column 7: /);
});

test("WO-PGS-18 declared params are all used and of known types", () => {
  const params = { b: "int8", a: "int16", z: "text" };
  expect(outcome({ id: "", sql: "SELECT :b, :a, :c", params })).toMatch(
    /^a: no known type; the types are bool, .*\nc: undeclared: .*\nz: the statement does not use it$/,
  );
  expect(outcome({ id: "", sql: "SELECT 1", params: {} })).toEqual({ text: "SELECT 1", names: [] });
  expect(outcome({ id: "", sql: "SELECT :v, :v", params: { v: "uuid[]?" } })).toEqual({
    text: "SELECT $1::uuid[], $1::uuid[]",
    names: ["v"],
  });
});

test("WO-PGS-14 a character that SQL cannot hold is refused", () => {
  expect(outcome({ id: "", sql: "SELECT '\0'" })).toMatch(/column 9: U\+0000/);
  expect(outcome({ id: "", sql: "SELECT '\ud800'" })).toMatch(/column 9: half/);
});

const fragments = [
  "'",
  "''",
  '"',
  '""',
  "$",
  "$$",
  "$a$",
  "$1",
  "--",
  "\n",
  "\r",
  "/*",
  "*/",
  "\\",
  "E'",
  "e",
  "U&'",
  'U&"',
  "b'",
  ":",
  "::",
  ":p",
  "[",
  "]",
  " ",
  "1",
  ".5",
  "ab",
  "é",
  ";",
  "+",
  "-",
];
const soup = fc.array(fc.constantFrom(...fragments), { maxLength: 24 }).map((parts) => parts.join(""));

test("WO-PGS-04 tokens cover every text without a gap, and compiling changes placeholders only", () => {
  fc.assert(
    fc.property(soup, (text) => {
      const given = `SELECT ${text}`;
      const result = compileStatement(given);
      if (result.compiled === null) {
        expect(result.fault?.line).toBeGreaterThan(0);
        return;
      }
      const { compiled } = result;
      const tokens = lexSql(given);
      expect(tokens.map(({ start, end }) => given.slice(start, end)).join("")).toBe(given);
      // The compiled text, read again, has the same tokens with a positional where each placeholder stood.
      const again = lexSql(compiled.text);
      const restored = again.map(({ kind, start, end }) => {
        const part = compiled.text.slice(start, end);
        return kind === "positional" ? `:${compiled.names[Number(part.slice(1)) - 1]}` : part;
      });
      expect(restored.join("")).toBe(given);
    }),
    { numRuns: 3000 },
  );
});
