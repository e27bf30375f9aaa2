import { type PostgresServer, startPostgres } from "@sinks/testing/services";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Session } from "../src/connection/session.js";
import { Catalog, type TypesResult } from "../src/table/catalog.js";
import { never, query, startClient, succeeded } from "./postgres-fixture.js";

let server: PostgresServer;
let url: string;

beforeAll(async () => {
  server = await startPostgres();
  url = await server.createDatabase();
});
afterAll(() => server[Symbol.asyncDispose]());

const typesOf = ({ types }: TypesResult) => Object.fromEntries(types ?? []);

test("WO-VAL-11 columns are told apart by their base types, through domains and arrays", async () => {
  await using client = await startClient({ url });
  await client.use(never, async (session) => {
    const texts = [
      'CREATE SCHEMA "Odd ""one"""',
      "CREATE DOMAIN positive AS int8 CHECK (VALUE > 0)",
      "CREATE DOMAIN small AS positive",
      "CREATE DOMAIN document AS jsonb",
      "CREATE DOMAIN numbers AS int4[]",
      "CREATE TYPE pair AS (a int, b text)",
      `CREATE TABLE "Odd ""one"""."T" ("Id" int4, j json, b jsonb, d document, s small, l text[], m positive[], n numbers, p pair,
         c varchar(3), gone text, t timestamptz)`,
      'ALTER TABLE "Odd ""one"""."T" DROP COLUMN gone',
    ];
    succeeded(await session.pipeline(texts.map((text) => query(text))));
    expect(typesOf(await new Catalog().types(session, '"Odd ""one"""."T"'))).toEqual({
      Id: { kind: "scalar", base: "int4" },
      j: { kind: "json", base: "json" },
      b: { kind: "jsonb", base: "jsonb" },
      d: { kind: "jsonb", base: "jsonb" },
      s: { kind: "scalar", base: "int8" },
      l: { kind: "array", base: "text" },
      m: { kind: "array", base: "int8" },
      n: { kind: "array", base: "int4" },
      p: { kind: "scalar", base: "pair" },
      c: { kind: "scalar", base: "varchar" },
      t: { kind: "scalar", base: "timestamptz" },
    });
  });
});

test("WO-VAL-11 types are read once, until a failure or a new connection says that they changed", async () => {
  await using client = await startClient({ url });
  await client.use(never, async (session) => {
    let reads = 0;
    const counted: Session = {
      pipeline: (queries) => {
        reads += 1;
        return session.pipeline(queries);
      },
    };
    const catalog = new Catalog();
    succeeded(await session.pipeline([query("CREATE TABLE changing (a text)")]));
    await catalog.types(counted, '"changing"');
    await catalog.types(counted, '"changing"');
    expect(reads).toBe(1);
    succeeded(await session.pipeline([query("ALTER TABLE changing ALTER a TYPE jsonb USING a::jsonb")]));
    for (const code of ["23505", "42703"]) catalog.learn(code, ['"changing"']);
    expect(typesOf(await catalog.types(counted, '"changing"'))).toEqual({ a: { kind: "jsonb", base: "jsonb" } });
    for (const code of ["42P01", "42804"]) {
      catalog.learn(code, ['"changing"']);
      await catalog.types(counted, '"changing"');
    }
    catalog.doubtAll();
    await catalog.types(counted, '"changing"');
    expect(reads).toBe(5);
    expect((await catalog.types(counted, '"absent"')).failure).toMatchObject({ kind: "server", code: "42P01" });
  });
});
