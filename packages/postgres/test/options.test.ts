import { expect, test } from "vitest";
import { postgres } from "../src/connector.js";
import { postgresOptions } from "../src/options.js";
import { makeSink } from "./sink-fixture.js";

const url = { url: "postgres://u@h/d" };

/** The faults of options as `path: message`. */
function faults(given: Record<string, unknown>): readonly string[] {
  const { error } = postgresOptions.safeParse(given);
  return (error?.issues ?? []).map(({ path, message }) => `${path.join(".")}: ${message}`);
}

test("WO-OPT-01 WO-OPT-06 everything has its default but the address", () => {
  expect(postgresOptions.parse({ url_env: "DATABASE_URL" })).toMatchObject({
    port: null,
    target_session: "read_write",
    tls: { mode: "prefer" },
    connections: 2,
    application_name: "sinks",
    connect_timeout_ms: 5000,
    acquire_timeout_ms: 5000,
    statement_timeout_ms: 30_000,
    lock_timeout_ms: 10_000,
    prepared_statements: true,
    max_prepared: 100,
    transaction: "delivery",
    after_failure: "continue",
    on_zero_rows: "ignore",
    max_chunk_bytes: 4_194_304,
    table: "sinks_messages",
    auto_create: false,
    payload_type: "jsonb",
    payload_mode: "json_or_envelope",
    include_metadata: false,
    on_duplicate: "ignore",
    table_by: null,
    retry_safety: "narrowed",
    ledger: { enabled: false, retention_seconds: 604_800, table: "sinks_ledger", auto_create: true },
    nul: "reject",
    undefined_data: "reject",
    log_driver_messages: false,
    verify_statements: false,
    allow_quoted_identifiers: false,
  });
});

test.each([
  [{}, "url_env: is needed: the address"],
  [{ user: "u" }, "host: is needed, or the whole address"],
  [{ host: "h" }, "user: is needed, or the whole address"],
  [{ ...url, host: "h" }, "host: is part of `url`"],
  [{ ...url, port: 5432 }, "port: is part of `url`"],
  [{ port: 5432 }, "url_env: is needed: the address"],
  [{ ...url, password_env: "P" }, "password_env: is part of `url`"],
  [{ ...url, tls: { mode: "verify_ca" } }, "tls.ca_file: is needed"],
  [{ ...url, tls: { cert_file: "c" } }, "tls.key_file: goes with"],
  [{ ...url, tls: { key_file: "c" } }, "tls.cert_file: goes with"],
  [{ ...url, tls: { server_name: "c" } }, "tls.server_name: is looked at only with"],
  [{ ...url, table: "a.b.c" }, "table: must be `t` or `schema.t`"],
  [{ ...url, table_by: { token: 1, allow: ["a", "b-c"] } }, "table_by.allow.1: must be a plain name"],
  [{ ...url, ledger: { table: 'x"' } }, "ledger.table: must be"],
  [{ url: "mysql://u@h/d" }, "url: the address must look like postgres://"],
  [{ url: "postgres://u@h/d?sslmode=require" }, "url: the address carries sslmode; set sink.tls.mode"],
  [{ ...url, ledger: { enabled: true, table: "sinks_messages" } }, "ledger.table: is a table that messages are written to"],
  [{ ...url, ledger: { enabled: true, table: "t" }, write: [{ table: "t", data: ":payload" }] }, "ledger.table: is a table"],
  [{ ...url, connections: 33 }, "connections: "],
])("WO-OPT-01 options that do not go together are named: %j", (given, fault) => {
  expect(faults(given).join("\n")).toContain(fault);
});

test("FW-MAP-07 WO-GEN-16 faults of a write map are found with the options, all together and with their paths", () => {
  const found = faults({
    ...url,
    table: "other",
    statements: { seen: { sql: "UPDATE t SET a = :a", params: { a: "int8" } }, bad: "SELECT $1" },
    write: [
      { op: "upsert", table: "parcels", data: { "no name": ":payload.code" }, conflict: ["code"] },
      { op: "insert", table: "parcels", data: ":payload", where: { a: 1 } },
      { op: "upsert", table: "parcels", data: { code: ":payload.code" }, conflict: ["code"], update_columns: ["code"] },
      { table_by: { token: 2, allow: ["ok", "not ok"] }, data: ":payload" },
    ],
  });
  expect(found).toEqual(
    expect.arrayContaining([
      expect.stringMatching(/^statements\.bad: .*positional/),
      expect.stringMatching(/^write\.0: .*no name of a column/),
      "write.1.where: insert does not use where",
      expect.stringMatching(/^write\.2: .*overlap/),
      expect.stringMatching(/^write\.3: .*"table" must be/),
      "table: is for whole messages; it has no meaning with `write`",
    ]),
  );
  expect(faults({ ...url, allow_quoted_identifiers: true, write: [{ table: "t", data: { "any name": ":payload.a" } }] })).toEqual([]);
});

test("WO-PGS-17 WO-GEN-04 WO-GEN-18 a write map names only declared statements with exactly their params", () => {
  const statements = { seen: "UPDATE t SET a = :a, b = :b" };
  const rule = (given: object) => faults({ ...url, statements, write: [{ op: "statement", ...given }] });
  expect(rule({ statement: "other" })).toEqual(["write.0.statement: is not declared; declared are seen"]);
  expect(rule({ statement: "seen", params: { a: 1, c: 2 } })).toEqual(["write.0.params: seen needs b; seen does not take c"]);
  expect(rule({ statement: "seen", params: { a: ":payload.a", b: ":subject" } })).toEqual([]);
});

test("WO-GEN-23 an insert of a write map is named with its remedy, unless the ledger is on", () => {
  const write = [
    { table: "t", data: { a: 1 } },
    { op: "upsert", table: "t", data: { a: 1 }, conflict: ["a"], update_columns: [] },
    { op: "insert", table: "t", data: ":payload" },
  ];
  const notices = (more: object) =>
    postgres.notices(postgresOptions.parse({ url: "postgres://localhost/x", write, ...more }), { writeMs: 600_000 });
  expect(notices({})).toEqual([
    expect.stringMatching(/^write\[0\]: an insert meets its own row .*upsert with update_columns: \[\]/),
    expect.stringMatching(/^write\[2\]: /),
  ]);
  expect(notices({ ledger: { enabled: true } })).toEqual([]);
  expect(notices({ write: undefined })).toEqual([]);
});

test("WO-OPT-04 a timeout that outlasts a write of the pipeline is named", () => {
  const options = postgresOptions.parse({ ...url, statement_timeout_ms: 30_000, lock_timeout_ms: 10_000 });
  expect(postgres.notices(options, { writeMs: 30_000 })).toEqual([]);
  expect(postgres.notices(options, { writeMs: 20_000 })).toEqual([expect.stringMatching(/^statement_timeout_ms: is longer than .*20000/)]);
});

test("WO-OPT-01 an option that nothing looks at is named", () => {
  const notices = (more: object) => postgres.notices(postgresOptions.parse({ ...url, ...more }), { writeMs: 600_000 });
  expect(notices({ prepared_statements: false, max_prepared: 7 })).toEqual([expect.stringMatching(/^max_prepared: /)]);
  expect(notices({ table: "t", table_by: { token: 1, allow: ["a"] } })).toEqual([expect.stringMatching(/^table: /)]);
  expect(notices({ prepared_statements: false, max_prepared: 100, table: "t" })).toEqual([]);
});

test.each([
  [{ write: [{ table: "t", data: { a: 1 } }] }, "sink.write: a handler stands in its place; use one of the two"],
  [{ table: "t" }, "sink.table: is for whole messages; it has no meaning with a handler"],
  [{ include_metadata: true }, "sink.include_metadata: is for whole messages; it has no meaning with a handler"],
])("FW-MAP-08 beside a handler %j is refused", (given, message) => {
  expect(() => makeSink({ ...url, ...given }, { handler: () => [] })).toThrow(message);
});

test("WO-PG-14 a wrong name in a rule is told once, in the words of the rule", () => {
  expect(faults({ ...url, write: [{ table: "par cels", data: { code: 1 } }] })).toEqual([
    'write.0: "table" must be t, schema.t or [schema, t], each name an identifier',
  ]);
  expect(faults({ ...url, write: [{ table: "parcels", data: { code: 1 }, conflict: ["code"] }] })).toEqual([
    "write.0.conflict: insert does not use conflict",
  ]);
});
