import { hasDdl, hasInventory, hasLookup, isErrorKind, silentTelemetry, type WriteOutcome } from "@sinks/core";
import { eventually, type PostgresServer, startPostgres } from "@sinks/testing/services";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createdNs, makeSink, message, rows, startSink, writeContext } from "./sink-fixture.js";

let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres();
});
afterAll(() => server[Symbol.asyncDispose]());

const kinds = (outcomes: void | readonly WriteOutcome[]) => (outcomes ?? []).map((outcome) => outcome?.name ?? "stored");

/** Collects the sequences of an inventory; what is not there is told as -1. */
const reportInto = (found: number[]) => ({
  stored: (sequence: number) => void found.push(sequence),
  damaged: () => undefined,
  absent: () => void found.push(-1),
  note: () => undefined,
});

async function run(url: string, ...statements: readonly string[]): Promise<void> {
  for (const statement of statements) await rows(url, statement);
}

async function failedStart(start: Promise<unknown>): Promise<string> {
  const error = await start.then(
    () => null,
    (reason: unknown) => reason,
  );
  return isErrorKind(error, "ConfigurationError") ? error.message : `not a ConfigurationError: ${String(error)}`;
}

test("WO-ENV-01 WO-ENV-02 FW-MAP-10 whole messages: rows exactly as published, and a redelivery changes nothing", async () => {
  const url = await server.createDatabase();
  await using sink = await startSink({ url, auto_create: true });
  const body =
    '{"n":9007199254740993,"long":1234567890123456789012345678901234567890,"d":0.1000000000000000055511151231257827,"p":{"$gt":""}}';
  const messages = [
    message(1, body, {
      headers: [
        ["X-A", "1"],
        ["x-a", "2"],
      ],
      messageId: "m-1",
      priority: "high",
      labels: ["a", 'b"c'],
    }),
    message(2, "plain text"),
    message(3, new Uint8Array([0xff, 0])),
  ];
  expect(kinds(await sink.writeBatch(messages, writeContext()))).toEqual(["stored", "stored", "stored"]);
  const read = () =>
    rows(
      url,
      "SELECT stream_created_ns, stream_sequence, subject, message_id, published_at_ns, extract(microseconds from published_at)::int % 1000000, priority, labels, headers, payload ->> 'n', payload ->> 'long', payload ->> 'd', payload #>> '{p,$gt}', payload -> '_nats_sinks' ->> 'payload_format', stored_at FROM sinks_messages ORDER BY 2",
    );
  const first = await read();
  expect(first[0]?.slice(0, -1)).toEqual([
    String(createdNs),
    "1",
    "events.a",
    "m-1",
    "1779105700000000999",
    "0",
    "high",
    '{a,"b\\"c"}',
    '{"X-A": "1,2"}',
    "9007199254740993",
    "1234567890123456789012345678901234567890",
    "0.1000000000000000055511151231257827",
    "",
    null,
  ]);
  expect([first[1]?.[13], first[2]?.[13]]).toEqual(["text", "bytes"]);
  expect(kinds(await sink.writeBatch([...messages, messages[0] as (typeof messages)[0]], writeContext()))).toEqual(Array(4).fill("stored"));
  expect(await read()).toEqual(first);
});

test("FW-ENV-07 another incarnation of the stream has rows of its own", async () => {
  const url = await server.createDatabase();
  await using sink = await startSink({ url, auto_create: true });
  await sink.writeBatch([message(1), message(1, { again: true }, { streamCreatedAt: "2026-05-19T12:00:00Z" })], writeContext());
  expect(await rows(url, "SELECT payload::text FROM sinks_messages ORDER BY stream_created_ns")).toEqual([
    ['{"n": 1}'],
    ['{"again": true}'],
  ]);
});

test("WO-ENV-02 on_duplicate: update rewrites the row, the newest of one batch wins", async () => {
  const url = await server.createDatabase();
  await using sink = await startSink({ url, auto_create: true, on_duplicate: "update" });
  await sink.writeBatch([message(1, { v: 1 }), message(2, { v: 1 }), message(1, { v: 2 })], writeContext());
  await sink.writeBatch([message(2, { v: 3 })], writeContext());
  expect(await rows(url, "SELECT stream_sequence, payload ->> 'v' FROM sinks_messages ORDER BY 1")).toEqual([
    ["1", "2"],
    ["2", "3"],
  ]);
});

test.each(["json", "text", "bytea"] as const)("WO-ENV-01 payload_type %s", async (type) => {
  const url = await server.createDatabase();
  await using sink = await startSink({ url, auto_create: true, payload_type: type });
  expect(kinds(await sink.writeBatch([message(1, '{"b":1, "a":2}')], writeContext()))).toEqual(["stored"]);
  const read = type === "bytea" ? "convert_from(payload, 'UTF8')" : "payload::text";
  expect(await rows(url, `SELECT ${read} FROM sinks_messages`)).toEqual([['{"b":1, "a":2}']]);
});

test("WO-ENV-02 a conflict with another unique index is an error of that message, never taken for success", async () => {
  const url = await server.createDatabase();
  await run(url, makeSink({ url }).ddl().join("\n"), "CREATE UNIQUE INDEX ON sinks_messages (message_id)");
  await using sink = await startSink({ url });
  const outcomes = await sink.writeBatch(
    [message(1, {}, { messageId: "same" }), message(2, {}, { messageId: "same" }), message(3)],
    writeContext(),
  );
  expect(kinds(outcomes)).toEqual(["stored", "PermanentSinkError", "stored"]);
  expect(outcomes?.[1]?.message).toContain("23505");
  expect(outcomes?.[1]?.message).not.toContain("same");
});

test("WO-ENV-02 a table partitioned by time takes the messages by its own key", async () => {
  const url = await server.createDatabase();
  const ddl = (makeSink({ url }).ddl()[0] as string).replace(/;$/, "");
  await run(
    url,
    `${ddl.replace("PRIMARY KEY (stream, stream_created_ns, stream_sequence)", "PRIMARY KEY (stream, stream_created_ns, stream_sequence, published_at)")} PARTITION BY RANGE (published_at)`,
    "CREATE TABLE p1 PARTITION OF sinks_messages DEFAULT",
  );
  await using sink = await startSink({ url });
  expect(kinds(await sink.writeBatch([message(1), message(1)], writeContext()))).toEqual(["stored", "stored"]);
  expect(await rows(url, "SELECT count(*) FROM p1")).toEqual([["1"]]);
});

test("WO-ENV-06 table_by chooses among the allowed tables and rejects any other token", async () => {
  const url = await server.createDatabase();
  await using sink = await startSink({ url, auto_create: true, table_by: { token: 2, allow: ["orders", "parcels"] } });
  const outcomes = await sink.writeBatch(
    [
      message(1, {}, { subject: "events.orders" }),
      message(2, {}, { subject: "events.parcels.x" }),
      message(3, {}, { subject: "events.pg_class" }),
      message(4, {}, { subject: "events" }),
    ],
    writeContext(),
  );
  expect(kinds(outcomes)).toEqual(["stored", "stored", "ValidationError", "ValidationError"]);
  expect(await rows(url, "SELECT (SELECT count(*) FROM orders), (SELECT count(*) FROM parcels)")).toEqual([["1", "1"]]);
  expect(
    await sink.lookup?.(
      [message(1, {}, { subject: "events.orders" }), message(1, {}, { subject: "events.parcels" })],
      writeContext().signal,
    ),
  ).toEqual([true, false]);
});

test("WO-ERR-05 a table that is missing or does not fit ends the start with the DDL that mends it", async () => {
  const url = await server.createDatabase();
  expect(await failedStart(startSink({ url }))).toContain('CREATE TABLE IF NOT EXISTS "sinks_messages"');
  await run(url, "CREATE TABLE sinks_messages (stream text, stream_created_ns bigint, stream_sequence bigint)");
  expect(await failedStart(startSink({ url }))).toContain('ALTER TABLE "sinks_messages" ADD COLUMN subject text not null');
  await run(url, "DROP TABLE sinks_messages", makeSink({ url, payload_type: "text" }).ddl().join("\n"));
  expect(await failedStart(startSink({ url }))).toContain("sink.payload_type");
  await run(url, "ALTER TABLE sinks_messages ADD COLUMN tenant int NOT NULL");
  expect(await failedStart(startSink({ url, payload_type: "text" }))).toContain('column "tenant"');
  await run(
    url,
    "ALTER TABLE sinks_messages ALTER COLUMN tenant SET DEFAULT 0",
    "ALTER TABLE sinks_messages DROP CONSTRAINT sinks_messages_pkey",
  );
  expect(await failedStart(startSink({ url, payload_type: "text" }))).toContain("ADD PRIMARY KEY");
});

test("FW-CLI-06 the checks before a start change nothing and name what is missing, with a remedy", async () => {
  const url = await server.createDatabase();
  const checks = async (given: Parameters<typeof makeSink>[0]) => {
    const found = await makeSink(given).preflight(writeContext().signal);
    return found.filter(({ status }) => status === "fail").map(({ id, message: what, remedy }) => `${id}: ${what}: ${remedy}`);
  };
  expect(await checks({ url, auto_create: true })).toEqual([]);
  expect((await checks({ url }))[0]).toContain('tables: table "sinks_messages" is not there');
  await run(url, "CREATE TABLE parcels (code text, kg int)");
  const write = [{ op: "upsert", table: "parcels", data: { code: ":payload.code", weight: ":payload.kg" }, conflict: ["code"] }];
  const statements = { seen: "UPDATE depots SET seen = 1 WHERE city = :city" };
  expect(await checks({ url, write, statements, ledger: { enabled: true, auto_create: false } })).toEqual([
    'tables: table "parcels" has no column "weight": ALTER TABLE "parcels" ADD COLUMN "weight" …',
    'tables: table "parcels" has no unique index on exactly ("code"): CREATE UNIQUE INDEX ON "parcels" ("code")',
    expect.stringMatching(/^tables: statement "seen".*42P01/),
    expect.stringMatching(/^ledger: table "sinks_ledger" is not there: CREATE TABLE/),
  ]);
  expect(await rows(url, "SELECT count(*) FROM pg_tables WHERE schemaname = 'public'")).toEqual([["1"]]);
});

test("WO-ENV-05 FW-CLI-07 lookup and inventory answer for the stream's life, also with thousands of keys", async () => {
  const url = await server.createDatabase();
  await using sink = await startSink({ url, auto_create: true });
  const stored = Array.from({ length: 2500 }, (_, index) => message(index + 1));
  await sink.writeBatch(stored, writeContext());
  await sink.writeBatch([message(9999, {}, { streamCreatedAt: "2026-05-19T12:00:00Z" })], writeContext());
  const asked = [...stored.slice(1400), message(5000), message(9999)];
  expect(await sink.lookup?.(asked, writeContext().signal)).toEqual([...stored.slice(1400).map(() => true), false, false]);
  const found: number[] = [];
  const request = { stream: "EVENTS", pipeline: "x", streamCreatedNs: [createdNs], keyPrefixes: [], from: 3, to: 9_999 };
  await sink.inventory?.(request, reportInto(found), writeContext().signal);
  expect(found).toEqual(stored.slice(2).map(({ streamSequence }) => Number(streamSequence)));
  found.length = 0;
  await makeSink({ url, table: "elsewhere" }).inventory?.(request, reportInto(found), writeContext().signal);
  expect(found).toEqual([-1]);
});

test("FW-LED-01 FW-LED-02 with a ledger a write map knows its messages again; without one it does not claim to", async () => {
  const url = await server.createDatabase();
  await run(url, "CREATE TABLE log (n int)");
  const write = [{ table: "log", data: { n: ":payload.n" } }];
  const plain = makeSink({ url, write });
  expect([hasLookup(plain), hasInventory(plain), plain.retrySafety([message(1)])]).toEqual([false, false, "unsafe"]);
  await using sink = await startSink({ url, write, ledger: { enabled: true } });
  await sink.writeBatch([message(1), message(2)], writeContext());
  expect(kinds(await sink.writeBatch([message(1), message(3)], writeContext()))).toEqual(["stored", "stored"]);
  expect(await rows(url, "SELECT n FROM log ORDER BY 1")).toEqual([["1"], ["2"], ["3"]]);
  expect(await sink.lookup?.([message(3), message(4)], writeContext().signal)).toEqual([true, false]);
  const found: number[] = [];
  const prefix = message(1).idempotencyKey().slice(0, -1);
  const request = {
    stream: "EVENTS",
    pipeline: "EVENTS/sink/postgres",
    streamCreatedNs: [createdNs],
    keyPrefixes: [prefix],
    from: 2,
    to: 50_000,
  };
  await sink.inventory?.(request, reportInto(found), writeContext().signal);
  expect(found).toEqual([2, 3]);
  expect(hasDdl(sink) && sink.ddl().join()).toContain("sinks_ledger");
});

test("FW-MAP-08 WO-GEN-20 a handler makes payloads and may read; what it throws rejects that message alone", async () => {
  const url = await server.createDatabase();
  await run(url, "CREATE TABLE log (n int)");
  const sink = await startSink(
    { url },
    {
      handler: async (envelope) => {
        const { rows: found } = (await sink.pool?.query("SELECT count(*)::int AS n FROM log")) ?? { rows: [] };
        if (envelope.streamSequence === 2n) throw new TypeError("boom");
        return envelope.streamSequence === 3n ? null : { table: "log", data: { n: found[0].n + 10 } };
      },
    },
  );
  await using _ = sink;
  expect(kinds(await sink.writeBatch([message(1), message(2), message(3)], writeContext()))).toEqual([
    "stored",
    "PermanentSinkError",
    "stored",
  ]);
  expect(await rows(url, "SELECT n FROM log")).toEqual([["10"]]);
  await sink.stop();
  expect(sink.pool).toBeNull();
  await expect(sink.writeBatch([message(4)], writeContext())).rejects.toMatchObject({ name: "NotAttemptedError" });
});

test("WO-RT-03 an unknown outcome of an insert may not be repeated, of whole messages it may", async () => {
  const url = await server.createDatabase();
  await run(url, "CREATE TABLE log (n int)");
  await using whole = await startSink({ url, auto_create: true });
  expect(whole.retrySafety([message(1)])).toBe("safe");
  await using mapped = await startSink({ url, write: [{ table: "log", data: { n: ":payload.n" } }] });
  const messages = [message(1)];
  await mapped.writeBatch(messages, writeContext());
  expect(mapped.retrySafety(messages)).toBe("unsafe");
});

test("WO-OB-02 WO-VAL-11 a plan reads the types that the build needs, writes nothing and leaves nothing open", async () => {
  const url = await server.createDatabase();
  await run(url, "CREATE TABLE parts (sku text PRIMARY KEY, tags text[], doc jsonb)");
  const sink = makeSink({ url, write: [{ table: "parts", data: { sku: ":payload.sku", tags: ":payload.tags", doc: ":payload.tags" } }] });
  const plan = await sink.plan([message(1, { sku: "a", tags: ["x"] })], { showValues: true, signal: AbortSignal.timeout(20_000) });
  expect([plan.messages[0]?.writes[0]?.values, plan.notes]).toEqual([['["x"]', "a", '{"x"}'], []]);
  expect(await rows(url, "SELECT count(*) FROM parts")).toEqual([["0"]]);
  const others = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()";
  await eventually(async () => (await rows(url, others))[0]?.[0] === "0", { deadlineMs: 5000, what: "the end of the plan's connection" });
});

test("FW-MAP-01 FW-MAP-06 messages with nothing to write are stored and counted, with those that have something", async () => {
  const url = await server.createDatabase();
  await run(url, "CREATE TABLE lines (sku text)");
  const write = [{ when: { subject: "events.a" }, each: ":payload.lines", table: "lines", data: { sku: ":item" } }];
  const counted: (readonly [string, number | undefined])[] = [];
  const telemetry = { ...silentTelemetry, count: (name: string, by?: number) => void counted.push([name, by]) };
  const sink = makeSink({ url, write, no_write_match: "ignore" });
  await sink.start({ name: "postgres", pipeline: "EVENTS/sink/postgres", telemetry, signal: AbortSignal.timeout(20_000) });
  try {
    const messages = [message(1, { lines: ["x", "y"] }), message(2, { lines: [] }), message(3, {}, { subject: "events.b" })];
    expect(kinds(await sink.writeBatch(messages, writeContext()))).toEqual(["stored", "stored", "stored"]);
  } finally {
    await sink.stop();
  }
  expect(counted.filter(([name]) => name === "messages_without_write_total")).toEqual([["messages_without_write_total", 2]]);
  expect(await rows(url, "SELECT sku FROM lines ORDER BY 1")).toEqual([["x"], ["y"]]);
});

test("WO-GEN-09 WO-PG-06 FW-MAP-04 values that a write map gives are judged message by message, its own names once", async () => {
  const url = await server.createDatabase();
  await run(url, "CREATE TABLE t (a int8 PRIMARY KEY, b jsonb)");
  const write = [{ op: "upsert", table: "t", data: { a: ":payload.a", b: ":payload.b?" }, conflict: ["a"] }];
  await using sink = await startSink({ url, write });
  const bodies = ['{"a":1,"b":[1,{"$gt":""}]}', '{"b":1}', '{"a":[1]}', '{"a":2,"b":"x\\u0000"}', '{"a":9007199254740993}'];
  const outcomes = await sink.writeBatch(
    bodies.map((body, index) => message(index + 1, body)),
    writeContext(),
  );
  expect(kinds(outcomes)).toEqual(["stored", "ValidationError", "ValidationError", "ValidationError", "stored"]);
  expect(await rows(url, "SELECT a, b FROM t ORDER BY a")).toEqual([
    ["1", '[1, {"$gt": ""}]'],
    ["9007199254740993", null],
  ]);
});

test("FW-MAP-01 FW-MAP-06 FW-CLI-07 a message that writes nothing leaves its record in a ledger, so that it is not missed", async () => {
  const url = await server.createDatabase();
  await run(url, "CREATE TABLE log (n int)");
  const write = [{ when: { subject: "events.a" }, each: ":payload.lines", table: "log", data: { n: ":item" } }];
  await using sink = await startSink({ url, write, no_write_match: "ignore", ledger: { enabled: true } });
  const messages = [message(1, { lines: [7] }), message(2, { lines: [] }), message(3, {}, { subject: "events.b" })];
  expect(kinds(await sink.writeBatch(messages, writeContext()))).toEqual(["stored", "stored", "stored"]);
  expect(kinds(await sink.writeBatch([message(4, { lines: [] })], writeContext()))).toEqual(["stored"]);
  expect(await sink.lookup?.([...messages, message(4), message(5)], writeContext().signal)).toEqual([true, true, true, true, false]);
  expect(await rows(url, "SELECT n FROM log")).toEqual([["7"]]);
});

test("WO-ERR-05 a table of whole messages that is lost is an outage that says what makes it; one that the message chose is its own fault", async () => {
  const url = await server.createDatabase();
  await using one = await startSink({ url, auto_create: true });
  await run(url, "DROP TABLE sinks_messages");
  const [outcome] = (await one.writeBatch([message(1)], writeContext())) ?? [];
  expect([outcome?.name, outcome?.message]).toEqual(["DestinationUnavailableError", expect.stringMatching(/42P01.*sinks ddl/)]);
  await using many = await startSink({ url, auto_create: true, table_by: { token: 2, allow: ["a", "b"] } });
  await run(url, "DROP TABLE b");
  const outcomes = await many.writeBatch([message(1), message(2, {}, { subject: "events.b" }), message(3)], writeContext());
  expect(kinds(outcomes)).toEqual(["stored", "PermanentSinkError", "stored"]);
});

test("WO-GEN-12 a message refused before anything is sent lists what became of each of its payloads", async () => {
  const url = await server.createDatabase();
  await run(url, "CREATE TABLE t (a int)");
  const good = { op: "insert", table: "t", data: { a: 1 } } as const;
  const refusals = [{ op: "insert", table: "t", data: {} } as const, { op: "statement", statement: "unknown" } as const];
  for (const refused of refusals) {
    await using sink = await startSink({ url }, { handler: () => [good, refused, good] });
    const [outcome] = (await sink.writeBatch([message(1)], writeContext())) ?? [];
    expect(outcome?.message).toMatch(/^payload 2 of 3: .*; payload 1 not attempted; payload 3 not attempted$/);
    expect(outcome?.name).toBe("ValidationError");
  }
  expect(await rows(url, "SELECT * FROM t")).toEqual([]);
});

test("FW-ENV-08 FW-LED-01 a message without a key is refused alone, its neighbours are written", async () => {
  const url = await server.createDatabase();
  await run(url, "CREATE TABLE log (n text)");
  await using sink = await startSink({ url, write: [{ table: "log", data: { n: ":subject" } }], ledger: { enabled: true } });
  const withheld = message(2, "", { streamSequence: null, headers: [["Nats-Msg-Size", "5"]] });
  expect(kinds(await sink.writeBatch([message(1), withheld, message(3)], writeContext()))).toEqual(["stored", "ValidationError", "stored"]);
  expect(await rows(url, "SELECT count(*) FROM log")).toEqual([["2"]]);
});
