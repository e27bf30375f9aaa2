import { startProxy } from "@sinks/testing/faults";
import { eventually, freePort, type PostgresServer, startPostgres } from "@sinks/testing/services";
import { afterAll, beforeAll, expect, test } from "vitest";
import { PostgresClient } from "../src/client.js";
import { never, options, query, startClient, succeeded } from "./postgres-fixture.js";

let server: PostgresServer;
let ca: string;

beforeAll(async () => {
  server = await startPostgres({ password: "right", tls: true });
  ca = server.certificates?.caFile as string;
});
afterAll(() => server[Symbol.asyncDispose]());

const login = (changes: Record<string, unknown> = {}) => ({
  host: "127.0.0.1",
  port: server.port,
  user: "sinks",
  password: "right",
  database: "postgres",
  ...changes,
});

async function value(client: PostgresClient, text: string, ...values: string[]): Promise<string | null | undefined> {
  return client.use(never, async (session) => succeeded(await session.pipeline([query(text, ...values)]))[0]?.rows[0]?.[0]);
}

const isEncrypted = "SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()";

test.each([
  ["disable", {}, "f"],
  ["prefer", {}, "t"],
  ["require", {}, "t"],
  ["require", { ca_file: "CA" }, "t"],
  ["verify_ca", { ca_file: "CA" }, "t"],
  ["verify_full", { ca_file: "CA" }, "t"],
  ["verify_full", { ca_file: "CA", server_name: "localhost" }, "t"],
] as const)("WO-OPT-01 tls.mode %s with %j connects, encrypted: %s", async (mode, files, encrypted) => {
  await using client = await startClient(login({ tls: { mode, ...files, ...("ca_file" in files ? { ca_file: ca } : {}) } }));
  expect(await value(client, isEncrypted)).toBe(encrypted);
});

const refused = (given: Record<string, unknown>, signal: AbortSignal = never) =>
  new PostgresClient(options(given), { workingDirectory: "/", connected: () => undefined }).start(signal);

test("WO-OPT-01 a certificate of somebody else, or for another name, is refused", async () => {
  await using other = await startPostgres({ tls: { names: ["db.example"] } });
  const to = (port: number, tls: Record<string, unknown>) => login({ port, user: "postgres", tls });
  const otherCa = other.certificates?.caFile as string;
  const wrongName = { name: "CredentialsError", destinationCode: "ERR_TLS_CERT_ALTNAME_INVALID" };
  await expect(refused(to(other.port, { mode: "verify_full", ca_file: otherCa }))).rejects.toMatchObject(wrongName);
  await expect(refused(login({ tls: { mode: "verify_full", ca_file: ca, server_name: "db.example" } }))).rejects.toMatchObject(wrongName);
  await expect(refused(to(other.port, { mode: "verify_ca", ca_file: ca }))).rejects.toMatchObject({ name: "CredentialsError" });
  await expect(refused(to(other.port, { mode: "require", ca_file: ca }))).rejects.toMatchObject({ name: "CredentialsError" });
  await using right = await startClient(to(other.port, { mode: "verify_full", ca_file: otherCa, server_name: "db.example" }));
  expect(await value(right, isEncrypted)).toBe("t");
});

test("WO-OPT-01 without TLS on the server `prefer` goes on in the clear, and `require` does not", async () => {
  await using plain = await startPostgres({ ownServer: true });
  await using client = await startClient({ url: plain.url, connections: 1 });
  expect(await value(client, isEncrypted)).toBe("f");
  await expect(refused({ url: plain.url, tls: { mode: "require" } })).rejects.toMatchObject({ name: "DestinationUnavailableError" });
});

test("WO-OPT-01 `prefer` goes on in the clear where only that may log in, and a client certificate is shown", async () => {
  const accessRules = ["hostnossl all plain 127.0.0.1/32 trust", "hostssl all cert 127.0.0.1/32 trust clientcert=verify-ca"];
  await using strict = await startPostgres({ tls: true, accessRules });
  await using superuser = await startClient({ url: strict.superuserUrl });
  await value(superuser, "CREATE ROLE plain LOGIN");
  await value(superuser, "CREATE ROLE cert LOGIN");
  const to = (user: string, tls: Record<string, unknown>) => ({ host: "127.0.0.1", port: strict.port, user, database: "postgres", tls });
  await using plain = await startClient(to("plain", { mode: "prefer" }));
  expect(await value(plain, isEncrypted)).toBe("f");
  const { caFile: ca_file, certFile: cert_file, keyFile: key_file } = strict.certificates ?? {};
  await expect(refused(to("cert", { mode: "verify_full", ca_file }))).rejects.toMatchObject({ name: "CredentialsError" });
  await using shown = await startClient(to("cert", { mode: "verify_full", ca_file, cert_file, key_file }));
  expect(await value(shown, isEncrypted)).toBe("t");
  await expect(refused(to("cert", { mode: "verify_ca", ca_file: "/absent.pem" }))).rejects.toMatchObject({
    name: "ConfigurationError",
    message: "sink.tls.ca_file: the file cannot be read (ENOENT)",
  });
});

test("WO-ERR-03 a refused login is a matter of credentials, a missing database one of configuration, and neither shows a secret", async () => {
  const shown: string[] = [];
  for (const [given, expected] of [
    [login({ password: "wrong-secret" }), { name: "CredentialsError", destinationCode: "28P01" }],
    [login({ password: null }), { name: "CredentialsError", message: "PostgreSQL asks for a password, and none is configured" }],
    [login({ user: "nobody" }), { name: "CredentialsError", destinationCode: "28P01" }],
    [login({ database: "absent" }), { name: "ConfigurationError", destinationCode: "3D000" }],
    [{ url: `postgres://sinks:wrong-secret@127.0.0.1:${server.port}/postgres` }, { name: "CredentialsError", destinationCode: "28P01" }],
  ] as const) {
    const error: unknown = await refused(given).catch((reason: unknown) => reason);
    expect(error).toMatchObject(expected);
    shown.push((error as Error).message, JSON.stringify(error));
  }
  expect(shown.join()).not.toMatch(/wrong-secret|right/);
});

test("a server that cannot be reached is unavailable, and one that does not answer within the limit too", async () => {
  const nobody = await freePort();
  await expect(refused(login({ port: nobody }))).rejects.toMatchObject({
    name: "DestinationUnavailableError",
    destinationCode: "ECONNREFUSED",
  });
  await using proxy = await startProxy({ port: server.port });
  proxy.hold();
  await expect(refused(login({ port: proxy.port, connect_timeout_ms: 200 }))).rejects.toMatchObject({
    name: "DestinationUnavailableError",
  });
  // Takes the login and then says nothing.
  let chunks = 0;
  const toServer = () => ({
    push: (chunk: Buffer) => {
      chunks += 1;
      return chunks === 1 ? chunk : Buffer.alloc(0);
    },
  });
  await using mute = await startProxy({ port: server.port, toServer });
  const trusted = { port: mute.port, user: "postgres", connections: 1, tls: { mode: "disable" }, connect_timeout_ms: 300 };
  await expect(refused(login(trusted))).rejects.toMatchObject({ name: "DestinationUnavailableError" });
  expect(chunks).toBe(2);
  const given = new AbortController();
  const pending = refused(login({ port: proxy.port }), given.signal);
  await eventually(() => proxy.connections > 0, { deadlineMs: 5_000, what: "the connection attempt" });
  given.abort();
  await expect(pending).rejects.toMatchObject({ name: "NotAttemptedError" });
});

test("WO-OPT-01 a list of hosts is tried in turn, passing over a server that takes no writes", async () => {
  await using standby = await startPostgres({ settings: { default_transaction_read_only: "on" } });
  const url = `postgres://postgres@127.0.0.1:${await freePort()},127.0.0.1:${standby.port},127.0.0.1:${server.port}/postgres`;
  await using writable = await startClient({ url });
  expect(await value(writable, "SHOW port")).toBe(String(server.port));
  await using any = await startClient({ url, target_session: "any" });
  expect(await value(any, "SHOW port")).toBe(String(standby.port));
  await expect(refused({ url: standby.url })).rejects.toMatchObject({ name: "DestinationUnavailableError", destinationCode: "25006" });
  // A refused login ends the search.
  const wrong = `postgres://sinks:wrong@127.0.0.1:${server.port},127.0.0.1:${standby.port}/postgres`;
  await expect(refused({ url: wrong, target_session: "any" })).rejects.toMatchObject({ name: "CredentialsError" });
});

test("WO-ERR-04 a connection that answers 25006 is replaced: the next batch reaches the new primary", async () => {
  await using old = await startPostgres({ ownServer: true });
  const url = `postgres://postgres@127.0.0.1:${old.port},127.0.0.1:${server.port}/postgres`;
  await using client = await startClient({ url, connections: 1 });
  await value(client, "ALTER SYSTEM SET default_transaction_read_only = on");
  await value(client, "SELECT pg_reload_conf()");
  await client.use(never, async (session) => {
    const write = () => session.pipeline([query("CREATE TABLE t ()"), query("DROP TABLE t")]);
    const failure = await eventually(async () => (await write()).failure, { deadlineMs: 5_000, what: "the server to take no writes" });
    expect(failure).toMatchObject({ kind: "server", code: "25006" });
  });
  expect(await value(client, "SHOW port")).toBe(String(server.port));
});

test("WO-PG-35 a role for which a backslash escapes is put right, or refused behind a pooler", async () => {
  await using odd = await startPostgres({ settings: { standard_conforming_strings: "off" } });
  await using client = await startClient({ url: odd.url });
  expect(await value(client, "SHOW standard_conforming_strings")).toBe("on");
  await expect(refused({ url: odd.url, prepared_statements: false })).rejects.toMatchObject({
    name: "ConfigurationError",
    message: expect.stringContaining("standard_conforming_strings must be on"),
  });
});

test("WO-PG-34 a batch that gets no connection in time was not sent, and one that is given up while it waits neither", async () => {
  await using client = await startClient(login({ connections: 1, acquire_timeout_ms: 100 }));
  const given = new AbortController();
  await client.use(never, async () => {
    const late = client.use(never, async () => "late");
    const givenUp = client.use(given.signal, async () => "given up");
    given.abort();
    await expect(givenUp).rejects.toMatchObject({ name: "NotAttemptedError" });
    await expect(late).rejects.toMatchObject({
      name: "DestinationUnavailableError",
      message: expect.stringContaining("no connection was free"),
    });
  });
  expect(await client.use(never, async () => "free")).toBe("free");
  await expect(client.use(given.signal, async () => "aborted before")).rejects.toMatchObject({ name: "NotAttemptedError" });
});

test("WO-OPT-01 there are never more connections than configured, and each carries one batch", async () => {
  let connected = 0;
  await using client = await startClient(login({ connections: 3, application_name: "counted" }), () => {
    connected += 1;
  });
  let running = 0;
  let most = 0;
  await Promise.all(
    Array.from({ length: 20 }, () =>
      client.use(new AbortController().signal, async (session) => {
        running += 1;
        most = Math.max(most, running);
        succeeded(await session.pipeline([query("SELECT pg_sleep(0.01)")]));
        running -= 1;
      }),
    ),
  );
  expect(most).toBe(3);
  expect(connected).toBe(3);
  expect(await value(client, "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'counted'")).toBe("3");
});

test("WO-GEN-20 handlers have a pool between start and stop, which connects when it is used", async () => {
  const client = new PostgresClient(options(login({ application_name: "pooled", connections: 1 })), {
    workingDirectory: "/",
    connected: () => undefined,
  });
  expect(client.pool).toBeNull();
  await expect(client.use(never, async () => undefined)).rejects.toMatchObject({ name: "NotAttemptedError" });
  await client.start(never);
  const { pool } = client;
  expect(pool?.totalCount).toBe(0);
  const { rows } = await (pool as NonNullable<typeof pool>).query(
    "SELECT count(*)::int AS n FROM pg_stat_activity WHERE application_name = $1",
    ["pooled"],
  );
  expect(rows).toEqual([{ n: 2 }]);
  await client.stop();
  expect(client.pool).toBeNull();
  expect(pool?.ended).toBe(true);
  await expect(client.use(never, async () => undefined)).rejects.toMatchObject({ name: "NotAttemptedError" });
});

test("WO-PG-34 an idle connection of the handlers' pool that is terminated ends nothing but itself", async () => {
  await using client = await startClient(login({ application_name: "idle_pool", connections: 1 }));
  const pool = client.pool as NonNullable<typeof client.pool>;
  const { rows } = await pool.query("SELECT pg_backend_pid() AS pid");
  expect([pool.idleCount, pool.listenerCount("error")]).toEqual([1, 1]);
  await value(client, `SELECT pg_terminate_backend(${rows[0].pid})`);
  await eventually(() => pool.totalCount === 0, { deadlineMs: 5000, what: "the pool to drop its connection" });
  expect((await pool.query("SELECT 1 AS one")).rows).toEqual([{ one: 1 }]);
});

test("stop ends idle and working connections, and those who wait", async () => {
  await using observer = await startClient(login());
  const client = await startClient(login({ connections: 1, application_name: "stopping" }));
  const working = client.use(never, (session) => session.pipeline([query("SELECT pg_sleep(30)")]));
  const waiting = expect(client.use(never, async () => undefined)).rejects.toMatchObject({ name: "NotAttemptedError" });
  const count = () =>
    value(observer, "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'stopping' AND wait_event = 'PgSleep'");
  await eventually(async () => (await count()) === "1", { deadlineMs: 5_000, what: "the query to run" });
  await client.stop();
  await waiting;
  expect((await working).failure).toMatchObject({ kind: "lost", sent: 1 });
  await eventually(async () => (await count()) === "0", { deadlineMs: 5_000, what: "the query to end" });
  await client.stop();
  await client.start(never);
  expect(await value(client, "SELECT 1")).toBe("1");
  await client.stop();
});

test("WO-PG-34 a deadline cancels the query over TLS too", async () => {
  await using observer = await startClient(login());
  await using client = await startClient(login({ connections: 1, tls: { mode: "verify_full", ca_file: ca } }));
  const sleeping = () => value(observer, "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep'");
  const deadline = new AbortController();
  await client.use(deadline.signal, async (session) => {
    const pending = session.pipeline([query("SELECT pg_sleep(30)")]);
    await eventually(async () => (await sleeping()) === "1", { deadlineMs: 5_000, what: "the query to run" });
    deadline.abort();
    expect((await pending).failure).toMatchObject({ kind: "lost", sent: 1 });
  });
  await eventually(async () => (await sleeping()) === "0", { deadlineMs: 5_000, what: "the query to end" });
});
