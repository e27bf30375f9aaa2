import { type NatsServer, type PostgresServer, startNats, startPostgres } from "@sinks/testing/services";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { CliResult } from "./support/cli-process.js";
import { type PostgresCase, postgresCase } from "./support/postgres-case.js";
import { ledgerMode } from "./support/postgres-modes.js";

const password = "hunter2/In:The@Clear";
let nats: NatsServer;
let postgres: PostgresServer;
beforeAll(async () => {
  nats = await startNats();
  postgres = await startPostgres({ password });
});
afterAll(async () => {
  await nats[Symbol.asyncDispose]();
  await postgres[Symbol.asyncDispose]();
});

/** Runs a command whose outputs must not show the password in any spelling. */
async function ran(scene: PostgresCase, ...commandLine: string[]): Promise<CliResult> {
  const result = await scene.run(...commandLine);
  for (const secret of [password, encodeURIComponent(password), "hunter2"]) expect(result.stdout + result.stderr).not.toContain(secret);
  return result;
}

async function checks(scene: PostgresCase, configuration: string) {
  const { exitCode, stdout, stderr } = await ran(scene, "doctor", configuration, "--format", "json");
  expect(stdout, stderr).not.toBe("");
  const found = (JSON.parse(stdout) as { checks: { id: string; status: string; message: string; remedy: string | null }[] }).checks;
  return { exitCode, of: (id: string) => found.find((check) => check.id === id) };
}

const upsert = { write: [{ op: "upsert", table: "latest", conflict: ["key"], data: { key: ":payload.key", n: ":payload.n" } }] };

test("WO-GEN-16, WO-GEN-23, FW-CFG-04 validate: every fault with its path and place, warnings for what may go in twice, no connection", async () => {
  await using scene = await postgresCase(nats, postgres);
  const statements = { park: "UPDATE t SET a = :a\nWHERE b = 'open" };
  const bad = await ran(
    scene,
    "validate",
    await scene.configure({ statements, lock_timeout_ms: 1, tabel: "x", url: `postgres://u:${password}@h/d` }),
  );
  expect([bad.exitCode, bad.stdout]).toEqual([2, ""]);
  expect(bad.stderr).toMatch(/sink\.statements\.park.*line 2/);
  expect(bad.stderr).toContain("sink.lock_timeout_ms");
  expect(bad.stderr).toContain('sink.tabel: unknown key; did you mean "table"?');
  const plain = await ran(scene, "validate", await scene.configure({ write: ledgerMode.sink.write }), "--format", "json");
  expect([plain.exitCode, plain.stdout]).toEqual([0, expect.stringMatching(/ledger/)]);
  expect((await ran(scene, "validate", await scene.configure(ledgerMode.sink), "--format", "json")).stdout).not.toMatch(/ledger/);
});

test("WO-ENV-01, FW-LED-07 ddl: what it prints makes the tables that the sink needs", async () => {
  await using scene = await postgresCase(nats, postgres);
  const configuration = await scene.configure({ ledger: { enabled: true, auto_create: false } });
  const { exitCode, stdout, stderr } = await ran(scene, "ddl", configuration);
  expect(exitCode, stderr).toBe(0);
  await scene.sql(`SET ROLE sinks; ${stdout}`);
  await scene.job.publish([{ subject: `${scene.job.prefix}.a` }]);
  const run = await ran(scene, "run", configuration, "--once");
  expect(run.exitCode, run.stderr).toBe(0);
  expect(await scene.sql("SELECT count(*) FROM sinks_messages, sinks_ledger")).toEqual([["1"]]);
});

test("WO-GEN-17, WO-ERR-05 what a write map lacks ends no start: everything is held, and stored once it is there", async () => {
  await using scene = await postgresCase(nats, postgres);
  const statements = { touch: "UPDATE latest SET n = n + 1 WHERE key = :key" };
  const configuration = await scene.configure({ ...upsert, statements });
  await scene.job.publish([{ subject: `${scene.job.prefix}.a`, body: JSON.stringify({ key: 1, n: 2 }) }]);
  await using cli = scene.start("run", configuration);
  await scene.red(/upsert latest: .*42P01.*sinks doctor/);
  await scene.sql("CREATE TABLE latest (key int, n int); GRANT ALL ON latest TO sinks");
  await scene.red(/upsert latest: .*42P10/);
  await scene.sql("CREATE UNIQUE INDEX ON latest (key)");
  await scene.settled(1);
  expect([cli.running(), await scene.deadLetters()]).toEqual([true, 0]);
  expect(await scene.sql("SELECT key, n FROM latest")).toEqual([["1", "2"]]);
});

test("WO-PGS-14, WO-GEN-17 a statement that calls a procedure runs, and no check takes it for a fault", async () => {
  await using scene = await postgresCase(nats, postgres);
  await scene.sql(
    "CREATE TABLE notes (n int); GRANT ALL ON notes TO sinks",
    "CREATE PROCEDURE note(n int) LANGUAGE sql AS $$ INSERT INTO notes VALUES (n) $$",
  );
  const configuration = await scene.configure({
    statements: { note: "CALL note(:n::int)" },
    write: [{ op: "statement", statement: "note", params: { n: ":payload.n" } }],
    verify_statements: true,
    on_zero_rows: "fail",
  });
  const { exitCode, of } = await checks(scene, configuration);
  expect([exitCode, of("sink.tables")?.status]).toEqual([0, "pass"]);
  await scene.job.publish([{ subject: `${scene.job.prefix}.a`, body: JSON.stringify({ n: 7 }) }]);
  const run = await ran(scene, "run", configuration, "--once");
  expect([run.exitCode, run.stderr]).toEqual([0, expect.not.stringContaining("would be refused")]);
  expect(await scene.sql("SELECT n FROM notes")).toEqual([["7"]]);
  expect(await scene.deadLetters()).toBe(0);
});

test("FW-CLI-06, WO-ERR-05 doctor: what is missing in the database, each with the statement that mends it, and nothing is changed", async () => {
  await using scene = await postgresCase(nats, postgres);
  const whole = await scene.configure({});
  const absent = await checks(scene, whole);
  expect([absent.exitCode, absent.of("sink.tables")?.remedy]).toEqual([3, expect.stringContaining("CREATE TABLE")]);
  expect(absent.of("sink.connection")).toMatchObject({ status: "pass", message: expect.stringContaining("PostgreSQL") });
  const refused = await ran(scene, "run", whole, "--once");
  expect([refused.exitCode, refused.stderr]).toEqual([2, expect.stringContaining("CREATE TABLE")]);
  await scene.sql("CREATE TABLE latest (key int, n int)", "GRANT ALL ON latest TO sinks");
  const mapped = await scene.configure(upsert);
  const keyless = await checks(scene, mapped);
  const remedy = keyless.of("sink.tables")?.remedy ?? "";
  expect([keyless.exitCode, remedy]).toEqual([3, 'CREATE UNIQUE INDEX ON "latest" ("key")']);
  await scene.sql(remedy);
  const mended = await checks(scene, mapped);
  expect([mended.exitCode, mended.of("sink.tables")?.status]).toEqual([0, "pass"]);
  expect(await scene.sql("SELECT to_regclass('sinks_messages')")).toEqual([[null]]);
});

test("FW-CLI-05, FW-CLI-02 test-sink: passes, and says by code and without a secret why a login or an address is none", async () => {
  await using scene = await postgresCase(nats, postgres);
  const good = await ran(scene, "test-sink", await scene.configure({ auto_create: true }), "--format", "json");
  expect([good.exitCode, JSON.parse(good.stdout)]).toMatchObject([0, { sinks: [{ status: "pass", healthcheck: "pass", problem: null }] }]);
  const address = new URL(postgres.database(scene.database));
  const wrong = { host: "127.0.0.1", database: scene.database, user: "sinks", password: `${password}!` };
  const problems = [
    [{ ...wrong, port: postgres.port }, "credentials_refused", "28P01"],
    [{ ...wrong, port: 1 }, "destination_unavailable", "ECONNREFUSED"],
    [{ url: `${address.href}x` }, "configuration_invalid", "3D000"],
  ] as const;
  for (const [login, code, detail] of problems) {
    const sink = { type: "postgres", ...login, connect_timeout_ms: 1000 };
    const { exitCode, stdout } = await ran(scene, "test-sink", await scene.job.configure({ sink }), "--format", "json");
    expect([exitCode, JSON.parse(stdout)], detail).toMatchObject([
      3,
      { sinks: [{ status: "fail", problem: { code, message: expect.stringContaining(detail) } }] },
    ]);
  }
});

test("FW-CLI-01, WO-OB-01, WO-OB-02 probe: what would be written and how, by the types of the table, and nothing is", async () => {
  await using scene = await postgresCase(nats, postgres);
  await scene.sql("CREATE TABLE latest (key int PRIMARY KEY, n int[])", "GRANT ALL ON latest TO sinks");
  await scene.job.publish([1, 2, 1].map((key) => ({ subject: `${scene.job.prefix}.a`, body: JSON.stringify({ key, n: [key, 7] }) })));
  const configuration = await scene.configure(upsert);
  const { exitCode, stdout, stderr } = await ran(scene, "probe", configuration, "1", "2", "3", "--show-values", "--format", "json");
  expect(exitCode, stderr).toBe(0);
  const rendered = expect.stringContaining('INSERT INTO "latest" ("key", "n") VALUES');
  const write = (values: readonly string[], chunk: number) => ({
    writes: [{ destination: "latest", extras: { op: "upsert", conflict: ["key"] }, rendered, value_count: 2, values, run: 0, chunk }],
  });
  expect(JSON.parse(stdout)).toMatchObject({
    messages: [write(["1", "{1,7}"], 0), write(["2", "{2,7}"], 0), write(["1", "{1,7}"], 1)],
    retry_safety: { answer: "safe" },
  });
  const hidden = await ran(scene, "probe", configuration, "2", "--format", "json");
  expect([hidden.exitCode, hidden.stdout.includes("{2,7}")]).toEqual([0, false]);
  expect(await scene.sql("SELECT count(*) FROM latest")).toEqual([["0"]]);
});

test("FW-CLI-07, WO-ENV-05 verify: tells a row that is gone, and says that a plain write map cannot be verified", async () => {
  await using scene = await postgresCase(nats, postgres);
  await scene.sql(...ledgerMode.schema, "GRANT ALL ON events TO sinks");
  await scene.job.publish(Array.from({ length: 5 }, (_, n) => ({ subject: `${scene.job.prefix}.a`, body: JSON.stringify({ n }) })));
  const whole = await scene.configure({ auto_create: true });
  expect((await ran(scene, "run", whole, "--once")).exitCode).toBe(0);
  await scene.sql("DELETE FROM sinks_messages WHERE stream_sequence IN (2, 3)");
  const { exitCode, stdout } = await ran(scene, "verify", whole, "--format", "json");
  expect([exitCode, JSON.parse(stdout)]).toMatchObject([3, { expected: 5, stored: 3, missing: [[2, 3]] }]);
  const plain = await ran(scene, "verify", await scene.configure({ write: ledgerMode.sink.write }));
  expect([plain.exitCode, plain.stdout]).toEqual([2, ""]);
  expect(plain.stderr).toContain("cannot be verified");
});
