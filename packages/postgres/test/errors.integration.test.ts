import { type PostgresServer, startPostgres } from "@sinks/testing/services";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { PostgresClient } from "../src/client.js";
import { toPostgresError, verdictOf } from "../src/errors.js";
import { never, query, startClient, succeeded } from "./postgres-fixture.js";

let server: PostgresServer;
let client: PostgresClient & AsyncDisposable;

beforeAll(async () => {
  server = await startPostgres({ password: "p" });
  await using superuser = await startClient({ url: server.superuserUrl, connections: 1 });
  const schema = [
    "CREATE TABLE parent (id int PRIMARY KEY)",
    "CREATE TABLE t (id int PRIMARY KEY, a varchar(3) NOT NULL, parent int REFERENCES parent, n int CHECK (n > 0))",
    "CREATE TABLE late (id int UNIQUE DEFERRABLE)",
    "CREATE TABLE hidden (id int)",
    "CREATE TABLE owned (id int)",
    "ALTER TABLE owned ENABLE ROW LEVEL SECURITY",
    "CREATE POLICY p ON owned WITH CHECK (id < 10)",
    "CREATE VIEW v AS SELECT * FROM parent WHERE id < 10 WITH CHECK OPTION",
    "GRANT ALL ON parent, t, late, owned, v TO sinks",
    "GRANT CREATE ON SCHEMA public TO sinks",
  ];
  await superuser.use(never, async (session) => succeeded(await session.pipeline(schema.map((text) => query(text)))));
  client = await startClient({ url: server.url, connections: 1 });
});
afterAll(async () => {
  await client[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
});

test.each([
  ["INSERT INTO t VALUES (1, 'secret', NULL, 1)", "22001", "permanent", ""],
  ["INSERT INTO t VALUES ('secret', 'a', NULL, 1)", "22P02", "permanent", ""],
  ["INSERT INTO t VALUES (1, NULL, NULL, 1)", "23502", "permanent", 'table "public.t", column "a"'],
  ["INSERT INTO t VALUES (1, 'a', NULL, 1), (1, 'b', NULL, 1)", "23505", "permanent", 'table "public.t", constraint "t_pkey"'],
  ["INSERT INTO t VALUES (1, 'a', NULL, -4711)", "23514", "permanent", 'table "public.t", constraint "t_n_check"'],
  ["INSERT INTO t VALUES (1, 'a', 4711, 1)", "23503", "parent_missing", 'table "public.t", constraint "t_parent_fkey"'],
  ["INSERT INTO t VALUES (1, 'a', NULL, 1), (1, 'b', NULL, 1) ON CONFLICT (id) DO UPDATE SET a = EXCLUDED.a", "21000", "halve", ""],
  ["INSERT INTO v VALUES (4711)", "44000", "permanent", ""],
  ["DO $$ BEGIN RAISE EXCEPTION 'secret'; END $$", "P0001", "permanent", ""],
  ["INSERT INTO owned VALUES (4711)", "42501", "permanent", ""],
  ["INSERT INTO hidden VALUES (4711)", "42501", "right", ""],
  ["INSERT INTO absent VALUES (4711)", "42P01", "schema", ""],
  ["INSERT INTO absent.t VALUES (4711)", "42P01", "schema", ""],
  ["CREATE TABLE absent.t ()", "3F000", "schema", ""],
  ["INSERT INTO t (absent) VALUES (4711)", "42703", "schema", ""],
  ["INSERT INTO t (id, a) VALUES (1, 'a') ON CONFLICT (a) DO NOTHING", "42P10", "schema", "write a statement"],
  ["INSERT INTO late VALUES (1) ON CONFLICT (id) DO NOTHING", "55000", "schema", ""],
  ["SELECT $1 IS NULL", "42P18", "schema", "declare the type"],
  ["SELECT 4711 +", "42601", "schema", ""],
] as const)("WO-ERR-01, WO-OB-03 what the server says of %s", async (text, code, verdict, names) => {
  const { failure } = await client.use(never, (session) => session.pipeline([query(text, ...(text.includes("$1") ? ["1"] : []))]));
  if (failure === null) throw new Error("the statement did not fail");
  expect(failure).toMatchObject({ kind: "server", code });
  expect(verdictOf(failure)).toBe(verdict);
  const { message } = toPostgresError(failure, "t", false);
  expect(message).toContain(`SQLSTATE ${code}`);
  expect(message).toContain(names);
  expect(message).not.toMatch(/secret|4711|SELECT|INSERT/);
});
