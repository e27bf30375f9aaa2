import { type PostgresServer, startPostgres } from "@sinks/testing/services";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { PostgresClient } from "../src/client.js";
import type { Session } from "../src/connection/session.js";
import { LexicalFault, lexSql } from "../src/statement/sql-lexer.js";
import { compileStatement } from "../src/statement/statement-compiler.js";
import { never, query, startClient, succeeded } from "./postgres-fixture.js";

let server: PostgresServer;
let client: PostgresClient & AsyncDisposable;

beforeAll(async () => {
  server = await startPostgres();
  client = await startClient({ url: await server.createDatabase(), connections: 1 });
});
afterAll(async () => {
  await client?.[Symbol.asyncDispose]();
  await server?.[Symbol.asyncDispose]();
});

/** How a text ends: whole, or inside something. Both sides say it in these words. */
type Ending = "whole" | "string" | "quoted" | "comment" | "dollar" | "junk";

/**
 * How the server reads a text. PL/pgSQL takes an expression through the server's own lexer up to its semicolon, and without
 * `check_function_bodies` nothing else looks at it. Null where the server objects to something that is no matter of endings.
 */
async function serverEnding(session: Session, text: string): Promise<Ending | null> {
  const body = `DO $oracle$ BEGIN IF false THEN PERFORM 1 ${text}\n; END IF; END $oracle$`;
  const { failure } = await session.pipeline([query(body)]);
  if (failure === null) return "whole";
  const message = String((failure.error as Error).message);
  if (/unterminated (?:quoted string|bit string|hexadecimal)/.test(message)) return "string";
  if (/unterminated quoted identifier/.test(message)) return "quoted";
  if (/unterminated \/\* comment/.test(message)) return "comment";
  if (/unterminated dollar-quoted/.test(message)) return "dollar";
  if (/trailing junk after (?:numeric literal|parameter)/.test(message)) return "junk";
  if (/zero-length delimited identifier|invalid Unicode escape/.test(message)) return null;
  throw new Error(`the server says of ${JSON.stringify(text)}: ${message}`);
}

function ourEnding(text: string): Ending {
  try {
    lexSql(`${text}\n`);
    return "whole";
  } catch (error) {
    if (!(error instanceof LexicalFault)) throw error;
    const words: readonly (readonly [RegExp, Ending])[] = [
      [/^a string/, "string"],
      [/^a quoted identifier/, "quoted"],
      [/^a comment/, "comment"],
      [/^a dollar-quoted/, "dollar"],
      [/^a number/, "junk"],
    ];
    return words.find(([pattern]) => pattern.test(error.message))?.[1] ?? "whole";
  }
}

const fragments = [
  "'",
  "''",
  '"',
  '"a"',
  "$",
  "$$",
  "$a$",
  "$ä$",
  "$1 ",
  "--",
  "\n",
  "\r",
  "/*",
  "*/",
  "*",
  "/",
  "\\",
  "\\'",
  "E'",
  "e",
  "U&'",
  'u&"',
  "B'",
  "X'",
  "n'",
  ":",
  "::",
  ":p",
  " ",
  "\t",
  "1",
  ".",
  ".5",
  "5e",
  "ab",
  "é",
  "+",
  "-",
  ",",
];
const soup = fc.array(fc.constantFrom(...fragments), { minLength: 1, maxLength: 14 });

test("WO-PGS-04 WO-PGS-05 WO-PGS-06 WO-PGS-07 server and lexer agree at every point of random text where strings, comments and identifiers end", async () => {
  let compared = 0;
  await client.use(never, async (session) => {
    succeeded(await session.pipeline([query("SET check_function_bodies = off")]));
    await fc.assert(
      fc.asyncProperty(soup, async (parts) => {
        const text = parts.join("");
        for (let end = 1; end <= text.length; end += 1) {
          const prefix = text.slice(0, end);
          // Servers differ in this one; the lexer is as strict as the strictest.
          if (/\de\d+\$/.test(prefix)) continue;
          const expected = await serverEnding(session, prefix);
          if (expected === null) continue;
          compared += 1;
          expect([prefix, ourEnding(prefix)]).toEqual([prefix, expected]);
        }
      }),
      { numRuns: 400 },
    );
  });
  expect(compared).toBeGreaterThan(2000);
});

/** Things that hold a colon and a name without being a placeholder, each as an item of a SELECT list. */
const inert = fc.constantFrom(
  "'it''s :no'",
  "E'\\':no'",
  "E'a'\n'\\':no'",
  "$$ :no '$$",
  "$q$ $$ :no $q$",
  "1 -- :no '\n",
  "/* :no /* ' */ */ 2",
  "U&'\\0041 :no'",
  "3::int4",
  '\'x\' AS "q"":no"',
  "(ARRAY[1,2])[1:2]",
  "(ARRAY[1,2])[:]",
  "B'01'",
  "'a\\'",
);
const placeholder = fc.constantFrom("a", "b", "C_1").map((name) => `:${name}::text`);

test("WO-PGS-02 WO-PGS-17 the server binds each placeholder where it was written, and nothing else", async () => {
  await client.use(never, async (session) => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.oneof(inert, placeholder), { minLength: 1, maxLength: 12 }),
        fc.constantFrom(", ", ",", "\n,", ",/* : */ "),
        async (items, comma) => {
          const { compiled } = compileStatement(`SELECT ${items.join(comma)}`);
          if (compiled === null) throw new Error("the statement does not compile");
          const values = compiled.names.map((name) => `<${name}>`);
          const [result] = succeeded(await session.pipeline([{ text: compiled.text, values, prepare: false }]));
          const row = result?.rows[0] ?? [];
          expect(row).toHaveLength(items.length);
          for (const [index, item] of items.entries()) {
            const [, name] = /^:(\w+)::text$/.exec(item) ?? [];
            if (name === undefined) expect(row[index]).not.toContain("<");
            else expect(row[index]).toBe(`<${name}>`);
          }
        },
      ),
      { numRuns: 200 },
    );
  });
});
