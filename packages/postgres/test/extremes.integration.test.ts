import { isErrorKind, type WriteOutcome } from "@sinks/core";
import { type PostgresServer, startPostgres } from "@sinks/testing/services";
import { afterAll, beforeAll, expect, test } from "vitest";
import { message, rows, startSink, writeContext } from "./sink-fixture.js";

let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres();
});
afterAll(() => server[Symbol.asyncDispose]());

const kinds = (outcomes: void | readonly WriteOutcome[]) => (outcomes ?? []).map((outcome) => outcome?.name ?? "stored");

test("WO-PG-21 a table of 1600 columns, the most there can be: rows go in chunks of what one statement can bind", async () => {
  const url = await server.createDatabase();
  const columns = Array.from({ length: 1600 }, (_, index) => `c${index}`);
  await rows(url, `CREATE TABLE wide (${columns.map((name) => `${name} smallint`).join(", ")})`);
  await using sink = await startSink({ url, write: [{ table: "wide", data: ":payload" }] });
  // 41 rows of 1600 values are more than 65535.
  const messages = Array.from({ length: 41 }, (_, row) =>
    message(row + 1, Object.fromEntries(columns.map((name, index) => [name, (row + index) % 1000]))),
  );
  expect(new Set(kinds(await sink.writeBatch(messages, writeContext())))).toEqual(new Set(["stored"]));
  expect(await rows(url, "SELECT c0, c1, c799, c1599 FROM wide ORDER BY c0 LIMIT 1 OFFSET 40")).toEqual([["40", "41", "839", "639"]]);
});

test("WO-PG-11 WO-PG-15 names of 63 bytes are kept whole; longer ones, which the server would cut, are refused", async () => {
  const url = await server.createDatabase();
  const [table, plain, quoted] = ["t".repeat(63), "c".repeat(63), `${"é".repeat(31)}"`] as const;
  const inSql = `"${quoted.replaceAll('"', '""')}"`;
  await rows(url, `CREATE TABLE ${table} (${plain} int PRIMARY KEY, ${inSql} text)`);
  const write = [{ op: "upsert", table, conflict: [plain], data: ":payload" }];
  await using sink = await startSink({ url, write, allow_quoted_identifiers: true });
  const outcomes = await sink.writeBatch(
    [
      message(1, { [plain]: 1, [quoted]: "one" }),
      message(2, { [`${plain}c`]: 2, [quoted]: "two" }),
      message(3, { [plain]: 3, [`${quoted}${quoted}`]: "three" }),
    ],
    writeContext(),
  );
  expect(kinds(outcomes)).toEqual(["stored", "ValidationError", "ValidationError"]);
  expect(await rows(url, `SELECT ${plain}, ${inSql} FROM ${table}`)).toEqual([["1", "one"]]);
});

/** Texts that would be more than a value where text and values are mixed. */
const forgeries = [
  "'); DROP TABLE kept; --",
  "$1",
  ":payload.secret",
  "\\'; DROP TABLE kept; --",
  '"; DROP TABLE kept; --',
  "{NULL,1}",
  '","forged","',
  "NULL",
  "\\x00",
  "$$; DROP TABLE kept; $$",
  "a\tb\nc\\.\n",
  "\u202e\u2028",
];

test.each([true, false])("WO-GEN-03 values forge neither SQL nor rows, prepared_statements: %s", async (prepared_statements) => {
  const url = await server.createDatabase();
  await rows(url, "CREATE TABLE kept (id bigint, v text, list text[], doc jsonb, subject text, head text)");
  const data = {
    id: ":stream_sequence",
    v: ":payload.v",
    list: ":payload.list",
    doc: ":payload.doc",
    subject: ":subject",
    head: ":header.X-Head",
  };
  const statements = { again: "UPDATE kept SET v = :v WHERE id = :id::bigint AND v = :v" };
  const write = [
    { table: "kept", data },
    { op: "statement", statement: "again", params: { id: ":stream_sequence", v: ":payload.v" } },
  ];
  await using sink = await startSink({ url, write, statements, prepared_statements });
  const messages = forgeries.map((v, index) =>
    message(
      index + 1,
      { v, list: [v, null, v], doc: { $gt: "", [v]: [v] } },
      { subject: `events.${v.replaceAll(/[\s.*>\u2028]/g, "_")}`, headers: [["X-Head", v.replaceAll(/[\n\t]/g, "_")]] },
    ),
  );
  expect(new Set(kinds(await sink.writeBatch(messages, writeContext())))).toEqual(new Set(["stored"]));
  const stored = await rows(url, "SELECT v, array_to_json(list), doc, subject, head FROM kept ORDER BY id");
  expect(stored.map(([v, list, doc, subject, head]) => [v, JSON.parse(list ?? ""), JSON.parse(doc ?? ""), subject, head])).toEqual(
    messages.map((each, index) => {
      const v = forgeries[index] as string;
      return [v, [v, null, v], { $gt: "", [v]: [v] }, each.subject, each.headers.get("X-Head")];
    }),
  );
});

test("WO-PG-11 WO-GEN-03 keys of a payload that would be SQL are refused as names, and their neighbours are stored", async () => {
  const url = await server.createDatabase();
  await rows(url, "CREATE TABLE kept (id int, v text)");
  await using sink = await startSink({ url, write: [{ table: "kept", data: ":payload" }] });
  const keys = ['v") VALUES (1) --', "v, id", "v'", "V;DROP TABLE kept", "v\u0000", ""];
  const messages = [
    message(1, { id: 1, v: "a" }),
    ...keys.map((key, index) => message(index + 2, { id: 2, [key]: "b" })),
    message(9, { id: 9, v: "z" }),
  ];
  const outcomes = (await sink.writeBatch(messages, writeContext())) ?? [];
  expect(outcomes.map((outcome) => outcome === null || isErrorKind(outcome, "PermanentSinkError"))).not.toContain(false);
  expect(outcomes.filter((outcome) => outcome === null)).toHaveLength(2);
  expect(await rows(url, "SELECT id, v FROM kept ORDER BY 1")).toEqual([
    ["1", "a"],
    ["9", "z"],
  ]);
});
