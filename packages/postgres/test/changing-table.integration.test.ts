import type { WriteOutcome } from "@sinks/core";
import { type PostgresServer, startPostgres } from "@sinks/testing/services";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { message, rows, startSink, writeContext } from "./sink-fixture.js";

let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres();
});
afterAll(() => server[Symbol.asyncDispose]());

const kinds = (outcomes: void | readonly WriteOutcome[]) => (outcomes ?? []).map((outcome) => outcome?.name ?? "stored");
const write = [{ table: "things", data: { id: ":stream_sequence", v: ":payload" } }];

/** How a column changes, what goes in before and after, and what the table then shows of the latter. */
const changes = [
  ["int to text", "int", "text USING v::text", "1", '"abc"', "abc"],
  ["int to bigint", "int", "bigint", "1", "5000000000", "5000000000"],
  ["int[] to jsonb", "int[]", "jsonb USING to_jsonb(v)", "[1,2]", "[1,2,3]", "[1, 2, 3]"],
  ["jsonb to int[]", "jsonb", "int[] USING '{}'", "[1,2]", "[1,2,3]", "{1,2,3}"],
  ["text to jsonb", "text", "jsonb USING to_jsonb(v)", '"a"', '{"a":[1]}', '{"a": [1]}'],
  ["text to jsonb, of text", "text", "jsonb USING to_jsonb(v)", '"a"', '"b"', '"b"'],
  ["text to timestamp", "text", "timestamp USING now()", '"a"', '"2026-01-02T03:04:05Z"', "2026-01-02 03:04:05"],
] as const;

describe("WO-VAL-11, WO-PG-33 a table that changes under way", () => {
  test.for(changes)(
    "%s: what is good for the new type is stored after at most one outage",
    async ([, before, after, first, second, shown]) => {
      for (const prepared_statements of [true, false]) {
        const url = await server.createDatabase();
        await rows(url, `CREATE TABLE things (id bigint, v ${before})`);
        await using sink = await startSink({ url, write, connections: 1, prepared_statements });
        const one = (sequence: number, body: string) => sink.writeBatch([message(sequence, body)], writeContext());
        // Often enough for whatever is kept of it to be kept.
        for (let sequence = 1; sequence <= 8; sequence += 1) expect(kinds(await one(sequence, first))).toEqual(["stored"]);
        await rows(url, `ALTER TABLE things ALTER COLUMN v TYPE ${after}`);
        const [outcome] = kinds(await one(9, second));
        if (outcome !== "stored") {
          expect(outcome).toBe("DestinationUnavailableError");
          expect(kinds(await one(9, second))).toEqual(["stored"]);
        }
        expect(await rows(url, "SELECT v FROM things WHERE id = 9")).toEqual([[shown]]);
      }
    },
  );

  test("WO-ERR-05 columns that come and go: a new one with a default is no matter, a needed one is an outage until it is back", async () => {
    const url = await server.createDatabase();
    await rows(url, "CREATE TABLE things (id bigint, v int)");
    await using sink = await startSink({ url, write });
    const one = async (sequence: number) => kinds(await sink.writeBatch([message(sequence, "1")], writeContext()));
    expect(await one(1)).toEqual(["stored"]);
    await rows(url, "ALTER TABLE things ADD COLUMN more text NOT NULL DEFAULT 'x'");
    expect(await one(2)).toEqual(["stored"]);
    await rows(url, "ALTER TABLE things DROP COLUMN v");
    expect([await one(3), await one(3)]).toEqual([["DestinationUnavailableError"], ["DestinationUnavailableError"]]);
    await rows(url, "ALTER TABLE things ADD COLUMN v int");
    expect(await one(3)).toEqual(["stored"]);
    expect(await rows(url, "SELECT id, v, more FROM things ORDER BY 1")).toEqual([
      ["1", null, "x"],
      ["2", null, "x"],
      ["3", "1", "x"],
    ]);
  });

  test("WO-ERR-05 a column that a message chose and the table lacks is that message's fault, and costs nobody a plan", async () => {
    const url = await server.createDatabase();
    await rows(url, "CREATE TABLE things (id bigint)");
    await rows(url, "CREATE TABLE seen (plans text)");
    const statements = {
      look: "INSERT INTO seen SELECT count(*) FROM pg_prepared_statements WHERE statement LIKE 'INSERT INTO \"things%'",
    };
    const chosen = [
      { when: { subject: "events.a" }, table: "things", data: ":payload" },
      { when: { subject: "events.look" }, op: "statement", statement: "look" },
    ];
    await using sink = await startSink({ url, write: chosen, statements, connections: 1 });
    const one = async (sequence: number, body: unknown, subject = "events.a") =>
      kinds(await sink.writeBatch([message(sequence, body, { subject })], writeContext()));
    for (let sequence = 1; sequence <= 3; sequence += 1) expect(await one(sequence, { id: sequence })).toEqual(["stored"]);
    expect(await one(4, {}, "events.look")).toEqual(["stored"]);
    expect(await one(5, { no_such_column: 1 })).toEqual(["PermanentSinkError"]);
    expect(await one(6, {}, "events.look")).toEqual(["stored"]);
    expect(await rows(url, "SELECT plans FROM seen")).toEqual([["1"], ["1"]]);
  });
});
