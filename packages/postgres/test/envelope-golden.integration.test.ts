import { envelopeFromSnapshot, type JsonObject } from "@sinks/core";
import { type PostgresServer, startPostgres } from "@sinks/testing/services";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Sessions } from "../src/connection/session.js";
import { EnvelopeMode } from "../src/envelope/envelope-mode.js";
import { postgresOptions } from "../src/options.js";
import { makeSink, message, rows, startSink, writeContext } from "./sink-fixture.js";

let server: PostgresServer;
let url: string;
beforeAll(async () => {
  server = await startPostgres();
});
afterAll(() => server[Symbol.asyncDispose]());

const columnsOf = async (table: string) =>
  (
    await rows(
      url,
      `SELECT attname, format_type(atttypid, atttypmod), attnotnull, pg_get_expr(adbin, adrelid) FROM pg_attribute
        LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum WHERE attrelid = '${table}'::regclass AND attnum > 0 ORDER BY attnum`,
    )
  ).map((column) => column.map((value) => value ?? "").join("|"));

test("WO-ENV-01 FW-LED-07 the DDL, to the letter, and what ensureSchema makes of it", async () => {
  url = await server.createDatabase();
  const sink = makeSink({ url, ledger: { enabled: true, auto_create: false } });
  expect(sink.ddl()).toEqual([
    `CREATE TABLE IF NOT EXISTS "sinks_messages" (
  stream text not null,
  stream_created_ns bigint not null,
  stream_sequence bigint not null,
  subject text not null,
  message_id text,
  published_at timestamptz,
  published_at_ns bigint,
  priority text,
  classification text,
  labels text[] not null default '{}',
  headers jsonb not null default '{}',
  payload jsonb,
  mission_metadata jsonb,
  security_labels jsonb,
  custody jsonb,
  metadata jsonb,
  stored_at timestamptz not null default clock_timestamp(),
  PRIMARY KEY (stream, stream_created_ns, stream_sequence)
);`,
    `CREATE TABLE IF NOT EXISTS "sinks_ledger" (
  pipeline text,
  key text,
  applied_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (pipeline, key)
);`,
    'CREATE INDEX IF NOT EXISTS "sinks_ledger_applied_at" ON "sinks_ledger" (applied_at);',
  ]);
  for (let times = 0; times < 2; times += 1) await sink.ensureSchema(writeContext().signal);
  expect(await columnsOf("sinks_messages")).toEqual([
    "stream|text|t|",
    "stream_created_ns|bigint|t|",
    "stream_sequence|bigint|t|",
    "subject|text|t|",
    "message_id|text|f|",
    "published_at|timestamp with time zone|f|",
    "published_at_ns|bigint|f|",
    "priority|text|f|",
    "classification|text|f|",
    "labels|text[]|t|'{}'::text[]",
    "headers|jsonb|t|'{}'::jsonb",
    "payload|jsonb|f|",
    "mission_metadata|jsonb|f|",
    "security_labels|jsonb|f|",
    "custody|jsonb|f|",
    "metadata|jsonb|f|",
    "stored_at|timestamp with time zone|t|clock_timestamp()",
  ]);
  expect(await columnsOf("sinks_ledger")).toEqual([
    "pipeline|text|t|",
    "key|text|t|",
    "applied_at|timestamp with time zone|t|clock_timestamp()",
  ]);
});

test.each([
  [false, null],
  [true, "events.a"],
])("WO-ENV-01 include_metadata: %s, a withheld body is NULL, and the optional sections are stored", async (include_metadata, subject) => {
  url = await server.createDatabase();
  await using sink = await startSink({ url, auto_create: true, include_metadata });
  const snapshot = message(1).metadataForJsonStorage();
  const given: JsonObject = {
    ...(snapshot as unknown as JsonObject),
    mission_metadata: { leg: 7 },
    security_labels: { level: "open" },
    payload: { omitted: true },
  };
  const withheld = envelopeFromSnapshot(given, null, { custody: { holder: "depot" } });
  expect(await sink.writeBatch([withheld, message(2)], writeContext())).toEqual([null, null]);
  expect(
    await rows(
      url,
      `SELECT payload::text, mission_metadata::text, security_labels::text, custody::text, metadata ->> 'subject',
        metadata #>> '{timestamps,stored_at_epoch_ns}' FROM sinks_messages ORDER BY stream_sequence`,
    ),
  ).toEqual([
    [null, '{"leg": 7}', '{"level": "open"}', '{"holder": "depot"}', subject, include_metadata ? "1779105800000000000" : null],
    ['{"n": 2}', null, null, null, subject, include_metadata ? "1779105800000000000" : null],
  ]);
});

test("WO-ENV-02 more columns with defaults are no matter, and on_duplicate: update makes stored_at now", async () => {
  url = await server.createDatabase();
  await makeSink({ url }).ensureSchema(writeContext().signal);
  await rows(url, "ALTER TABLE sinks_messages ADD COLUMN tenant int NOT NULL DEFAULT 4, ADD COLUMN note text");
  await using sink = await startSink({ url, on_duplicate: "update" });
  await sink.writeBatch([message(1, { v: 1 })], writeContext());
  await rows(url, "UPDATE sinks_messages SET stored_at = '2001-01-01', tenant = 5");
  await sink.writeBatch([message(1, { v: 2 })], writeContext());
  expect(
    await rows(
      url,
      "SELECT payload ->> 'v', tenant, note, stored_at > now() - interval '1 hour' AND stored_at <= now() FROM sinks_messages",
    ),
  ).toEqual([["2", "5", null, "t"]]);
});

test("WO-ENV-05 a look-up takes one round trip for each 1000 keys", async () => {
  const asked: number[] = [];
  const sessions: Sessions = {
    use: (_signal, work) =>
      work({
        pipeline: async (queries) => {
          asked.push(queries.length);
          return { done: queries.map(() => ({ command: "SELECT", count: 1, rows: [["1"]] })), failure: null };
        },
      }),
  };
  const mode = new EnvelopeMode(postgresOptions.parse({ url: "postgres://u@h/d" }), () => 0n);
  const messages = Array.from({ length: 2001 }, (_, index) => message(index + 1));
  const found = await mode.lookup(messages, { sessions, pipeline: null, signal: writeContext().signal });
  expect(asked).toEqual([1, 1, 1]);
  expect(found.flatMap((there, index) => (there ? [index] : []))).toEqual([0, 1000, 2000]);
});
