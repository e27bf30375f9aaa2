import { type PostgresServer, startPostgres } from "@sinks/testing/services";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { PostgresClient } from "../src/client.js";
import { batchOf, executeReal, payloadWriter, sql, watched } from "./execution-fixture.js";
import { startClient } from "./postgres-fixture.js";

let server: PostgresServer;
let client: PostgresClient & AsyncDisposable;
const bound = (size: number) => 2 * (Math.ceil(Math.log2(size)) + 1);
const segments = (texts: readonly string[]) => texts.filter((text) => text === "SET CONSTRAINTS ALL DEFERRED").length;

beforeAll(async () => {
  server = await startPostgres();
  client = await startClient({ url: await server.createDatabase() });
});
afterAll(async () => {
  await client[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
});
beforeEach(async () => {
  await sql(
    client,
    "DROP TABLE IF EXISTS lines, orders, parcels CASCADE",
    "CREATE TABLE parcels (id int PRIMARY KEY, kg int CONSTRAINT positive CHECK (kg > 0), note text, times int NOT NULL DEFAULT 0)",
    "CREATE TABLE orders (id int PRIMARY KEY)",
    "CREATE TABLE lines (id int PRIMARY KEY, order_id int NOT NULL CONSTRAINT known_order REFERENCES orders DEFERRABLE)",
  );
});

const ids = async (table: string) => (await sql(client, `SELECT id FROM ${table} ORDER BY id`)).map(([id]) => Number(id));
const parcel = (id: number, fields: object = {}) => ({ op: "insert", table: "parcels", data: { id, kg: 1, ...fields } });

test("WO-PG-27 WO-PG-31 one bad row among 1000 costs at most the bound on a real server, and neighbours commit once", async () => {
  const write = payloadWriter();
  for (const bad of [0, 313, 999]) {
    await sql(client, "TRUNCATE parcels CASCADE");
    const sessions = watched(client);
    const batch = batchOf(Array.from({ length: 1000 }, (_, id) => write(parcel(id, { kg: id === bad ? -1 : 1 }))));
    const { words, outcomes, seen } = await executeReal(sessions, batch);
    expect(words.filter((word) => word === "applied")).toHaveLength(999);
    expect(outcomes[bad]).toMatchObject({ name: "PermanentSinkError", destinationCode: "23514" });
    expect(outcomes[bad]?.message).toContain('table "public.parcels", constraint "positive"');
    expect(segments(sessions.texts)).toBeLessThanOrEqual(bound(1000));
    expect(seen.counts.get("sink_batch_isolations_total")).toBe(1);
    expect(await ids("parcels")).toEqual(Array.from({ length: 1000 }, (_, id) => id).filter((id) => id !== bad));
  }
});

test("WO-PG-24 WO-PG-27 a bad update among 1000 is named by the replies: three segments", async () => {
  await sql(client, "INSERT INTO parcels SELECT i, 1 FROM generate_series(0, 999) i");
  const write = payloadWriter({ again: "UPDATE parcels SET times = times + 1, kg = :kg::int WHERE id = :id::int" });
  const sessions = watched(client);
  const batch = batchOf(
    Array.from({ length: 1000 }, (_, id) => write({ op: "statement", statement: "again", params: { id, kg: id === 617 ? "x" : 2 } })),
  );
  const { words, outcomes } = await executeReal(sessions, batch);
  expect(words.filter((word) => word === "applied")).toHaveLength(999);
  expect(outcomes[617]).toMatchObject({ name: "PermanentSinkError", destinationCode: "22P02" });
  expect(segments(sessions.texts)).toBe(3);
  expect(await sql(client, "SELECT times, count(*) FROM parcels GROUP BY times ORDER BY times")).toEqual([
    ["0", "1"],
    ["1", "999"],
  ]);
});

test("WO-PG-27 FW-MAP-09 several bad messages of several writes: nothing of them is there, all else is", async () => {
  const write = payloadWriter();
  const bad = new Set([3, 40, 41, 99]);
  const batch = batchOf(
    Array.from({ length: 100 }, (_, id) => write({ op: "insert", table: "orders", data: { id } }, parcel(id, { kg: bad.has(id) ? 0 : 1 }))),
  );
  const sessions = watched(client);
  const { words } = await executeReal(sessions, batch);
  expect(words).toEqual(Array.from({ length: 100 }, (_, id) => (bad.has(id) ? "permanent" : "applied")));
  const good = Array.from({ length: 100 }, (_, id) => id).filter((id) => !bad.has(id));
  expect(await ids("orders")).toEqual(good);
  expect(await ids("parcels")).toEqual(good);
  expect(segments(sessions.texts)).toBeLessThanOrEqual(bad.size * bound(100));
});

test("WO-PG-27 a batch of nothing but bad rows ends, each transaction of it after 500 savepoints", async () => {
  const write = payloadWriter();
  const sessions = watched(client);
  const { words } = await executeReal(sessions, batchOf(Array.from({ length: 600 }, (_, id) => write(parcel(id, { kg: 0 })))));
  expect(new Set(words)).toEqual(new Set(["permanent"]));
  expect(sessions.texts.filter((text) => text === "COMMIT").length).toBeGreaterThan(1);
});

test("WO-PG-30 WO-ERR-06 deferred constraints: a message whole in itself passes, an orphan is named and temporary", async () => {
  const write = payloadWriter();
  const line = (id: number, order: number) => ({ op: "insert", table: "lines", data: { id, order_id: order } });
  const whole = write(line(1, 1), { op: "insert", table: "orders", data: { id: 1 } });
  const { words, outcomes } = await executeReal(client, batchOf([whole, write(parcel(1)), write(line(2, 77)), write(parcel(2))]));
  expect(words).toEqual(["applied", "applied", "temporary", "applied"]);
  expect(outcomes[2]).toMatchObject({ destinationCode: "23503" });
  expect(outcomes[2]?.message).toContain('constraint "known_order"');
  expect([await ids("lines"), await ids("orders"), await ids("parcels")]).toEqual([[1], [1], [1, 2]]);
});

test("WO-PG-25 WO-PG-30 a constraint that is checked at the end fails a single statement too, and its neighbours commit", async () => {
  await sql(client, "ALTER TABLE lines ALTER CONSTRAINT known_order DEFERRABLE INITIALLY DEFERRED", "INSERT INTO orders VALUES (1)");
  const write = payloadWriter();
  const lines = [1, 77, 1, 1].map((order, id) => write({ op: "insert", table: "lines", data: { id, order_id: order } }));
  const { words } = await executeReal(client, batchOf(lines));
  expect(words).toEqual(["applied", "temporary", "applied", "applied"]);
  expect(await ids("lines")).toEqual([0, 2, 3]);
});

test("WO-PG-23 keys that are equal only to the database: the newest wins, in one transaction", async () => {
  await sql(
    client,
    "DROP COLLATION IF EXISTS any_case",
    "CREATE COLLATION any_case (provider = icu, locale = 'und-u-ks-level2', deterministic = false)",
    "DROP TABLE IF EXISTS stock",
    "CREATE TABLE stock (sku text COLLATE any_case PRIMARY KEY, qty int)",
  );
  const write = payloadWriter();
  const upsert = (sku: string, qty: number) => write({ op: "upsert", table: "stock", data: { sku, qty }, conflict: ["sku"] });
  const sessions = watched(client);
  const { words } = await executeReal(sessions, batchOf([upsert("z", 1), upsert("B", 2), upsert("b", 3), upsert("Z", 4), upsert("a", 5)]));
  expect(new Set(words)).toEqual(new Set(["applied"]));
  expect(await sql(client, "SELECT sku, qty FROM stock ORDER BY qty")).toEqual([
    ["B", "3"],
    ["z", "4"],
    ["a", "5"],
  ]);
  expect(sessions.texts.filter((text) => text === "BEGIN")).toHaveLength(1);
  expect(segments(sessions.texts)).toBe(0);
});

test("WO-PG-33 a plan whose result type changed costs one repeat and no message", async () => {
  await using one = await startClient({
    url: server.database((await sql(client, "SELECT current_database()"))[0]?.[0] as string),
    connections: 1,
  });
  const write = payloadWriter({ look: "SELECT * FROM orders WHERE id = :id::int" });
  const look = (id: number) => write({ op: "statement", statement: "look", params: { id } });
  expect((await executeReal(one, batchOf([look(1), look(2)]))).words).toEqual(["applied", "applied"]);
  await sql(client, "ALTER TABLE orders ADD COLUMN added int");
  const { words, seen } = await executeReal(one, batchOf([look(1), look(2)]));
  expect(words).toEqual(["applied", "applied"]);
  expect(seen.counts.size).toBe(0);
});

test("WO-ERR-05 WO-PGS-20 a missing table is an outage, unless the message chose it", async () => {
  const write = payloadWriter({ lose: "UPDATE nowhere SET id = 1" });
  const [lost] = write({ op: "insert", table: "nowhere", data: { id: 1 } });
  const named = await executeReal(client, batchOf([write(parcel(1)), write({ op: "statement", statement: "lose" })]));
  expect([named.words, named.outcomes[1]?.destinationCode]).toEqual([["unavailable", "unavailable"], "42P01"]);
  const outage = await executeReal(client, batchOf([write(parcel(1)), [lost as NonNullable<typeof lost>], write(parcel(2))]));
  expect(outage.words).toEqual(["unavailable", "unavailable", "unavailable"]);
  expect(outage.outcomes[1]).toMatchObject({ destinationCode: "42P01" });
  const chosen = [{ ...(lost as NonNullable<typeof lost>), namesFromMessage: true }];
  expect((await executeReal(client, batchOf([write(parcel(1)), chosen, write(parcel(2))]))).words).toEqual([
    "applied",
    "permanent",
    "applied",
  ]);
  expect(await ids("parcels")).toEqual([1, 2]);
});

test("WO-ERR-06 rights: row-level security is permanent, a missing right on the table is credentials", async () => {
  await sql(
    client,
    "DROP ROLE IF EXISTS clerk",
    "CREATE ROLE clerk LOGIN",
    "GRANT SELECT, INSERT ON parcels TO clerk",
    "ALTER TABLE parcels ENABLE ROW LEVEL SECURITY",
    "CREATE POLICY light ON parcels FOR INSERT TO clerk WITH CHECK (kg < 100)",
  );
  const database = new URL(server.database((await sql(client, "SELECT current_database()"))[0]?.[0] as string));
  database.username = "clerk";
  await using clerk = await startClient({ url: database.href });
  const write = payloadWriter();
  const order = write({ op: "insert", table: "orders", data: { id: 1 } });
  const { words, outcomes } = await executeReal(clerk, batchOf([write(parcel(1)), write(parcel(2, { kg: 100 })), order, write(parcel(3))]));
  expect(words).toEqual(["applied", "permanent", "credentials", "applied"]);
  expect(outcomes.map((outcome) => outcome?.destinationCode ?? null)).toEqual([null, "42501", "42501", null]);
  await sql(client, "DROP OWNED BY clerk", "DROP ROLE clerk");
});

test("WO-PG-34 limits of the transaction hold where the connection has none", async () => {
  const database = server.database((await sql(client, "SELECT current_database()"))[0]?.[0] as string);
  await using pooled = await startClient({ url: database, prepared_statements: false });
  const write = payloadWriter({
    show: "INSERT INTO parcels (id, kg, note) VALUES (:id::int, 1, current_setting('statement_timeout') || ' ' || current_setting('lock_timeout'))",
  });
  const settings = { limitsPerTransaction: true, limits: { statementMs: 4321, lockMs: 1234 } };
  const show = (id: number) => write({ op: "statement", statement: "show", params: { id } });
  expect((await executeReal(pooled, batchOf([show(1)]), settings)).words).toEqual(["applied"]);
  expect((await executeReal(pooled, batchOf([show(2), write(parcel(3)), show(4)]), settings)).words).toEqual([
    "applied",
    "applied",
    "applied",
  ]);
  expect(await sql(client, "SELECT DISTINCT note FROM parcels WHERE note IS NOT NULL")).toEqual([["4321ms 1234ms"]]);
  expect(await sql(pooled, "SHOW statement_timeout")).toEqual([["0"]]);
});
