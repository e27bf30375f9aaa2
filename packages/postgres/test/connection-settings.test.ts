import { inspect } from "node:util";
import fc from "fast-check";
import { expect, test } from "vitest";
import { clientConfig, SettledClient } from "../src/connection/connect-attempt.js";
import { connectionSettings } from "../src/connection/connection-settings.js";
import { refusesTls, tlsAttempts } from "../src/connection/tls.js";
import { options } from "./postgres-fixture.js";

const settings = (given: Record<string, unknown>) => connectionSettings(options(given));

test("WO-OPT-01 a URL gives hosts, database, user and password, decoded", () => {
  expect(settings({ url: "postgres://ann%40x:p%3Aw%2F@db1:6000,db2,[::1]:7000/my%20db" })).toMatchObject({
    hosts: [
      { host: "db1", port: 6000 },
      { host: "db2", port: 5432 },
      { host: "::1", port: 7000 },
    ],
    user: "ann@x",
    database: "my db",
    needsWrites: true,
    ownsSession: true,
    statementTimeoutMs: 30_000,
    lockTimeoutMs: 10_000,
  });
  expect(settings({ url: "postgres://ann%40x:p%3Aw%2F@db1/x" }).password?.reveal()).toBe("p:w/");
  expect(settings({ url: "postgresql://ann@/" })).toMatchObject({
    hosts: [{ host: "localhost", port: 5432 }],
    database: "ann",
    password: null,
  });
  expect(settings({ url: "postgres://ann@%2Frun%2Fpostgresql" }).hosts).toEqual([{ host: "/run/postgresql", port: 5432 }]);
});

test("WO-OPT-01 keys give the same, and a list of hosts shares the port", () => {
  expect(settings({ host: ["a", "b"], port: 6000, user: "u", database: "d", password: "p", target_session: "any" })).toMatchObject({
    hosts: [
      { host: "a", port: 6000 },
      { host: "b", port: 6000 },
    ],
    user: "u",
    database: "d",
    needsWrites: false,
  });
});

test.each([
  [{ url: "mysql://u@h/d" }, "the address must look like"],
  [{ url: "postgres://u@h:0/d" }, "the address has a host or port"],
  [{ url: "postgres://u@h:65536/d" }, "the address has a host or port"],
  [{ url: "postgres://u:%zz@h/d" }, "the address holds a %"],
  [{ url: "postgres://h/d" }, "sink.user: needed"],
  [{ url: "postgres://u@h/d?sslnegotiation=direct" }, "sink.tls.mode: sslnegotiation=direct"],
])("WO-OPT-01 a URL that cannot be used is refused: %j", (given, message) => {
  expect(() => settings(given)).toThrow(message);
});

test.each([
  ["sslmode=disable", "carries sslmode; set sink.tls.mode instead"],
  ["application_name=x", "carries application_name; set sink.application_name instead"],
  ["target_session_attrs=any", "carries target_session_attrs; set sink.target_session instead"],
  ["statement_timeout=5", "carries statement_timeout; set sink.statement_timeout_ms instead"],
  ["load_balance_hosts=random", "carries an option that is not one of channel_binding, keepalives_idle, options, sslnegotiation"],
  ["options=-c%20a=b&options=x", "carries options twice"],
  ["keepalives_idle=soon", "carries a value for keepalives_idle"],
])("WO-OPT-04 the URL option %s is refused by name", (query, message) => {
  expect(() => settings({ url: `postgres://u@h/d?${query}` })).toThrow(message);
});

test("WO-OPT-04 options of the allow-list reach the driver", () => {
  const given = settings({
    url: "postgres://u@h/d?options=-c%20search_path%3Da&keepalives_idle=7&channel_binding=prefer",
    tls: { mode: "disable" },
  });
  const to = { host: "h", port: 5432, tls: false as const, directTls: false };
  expect(clientConfig(given, to)).toMatchObject({ keepAliveInitialDelayMillis: 7000, enableChannelBinding: true, keepAlive: true });
  expect(new SettledClient(given, to)).toHaveProperty("connectionParameters.options", "-c search_path=a");
});

test("the driver takes nothing from the environment", () => {
  const variables = {
    PGOPTIONS: "-c x=y",
    PGREPLICATION: "database",
    PGSSLMODE: "verify-full",
    PGSSLNEGOTIATION: "direct",
    PGUSER: "eve",
    PGAPPNAME: "e",
  };
  const before = Object.keys(variables).map((name) => [name, process.env[name]] as const);
  Object.assign(process.env, variables);
  try {
    const client = new SettledClient(settings({ host: "h", user: "u" }), { host: "h", port: 5432, tls: false, directTls: false });
    const { connectionParameters } = client as unknown as { connectionParameters: Record<string, unknown> };
    expect(connectionParameters).toMatchObject({
      user: "u",
      database: "u",
      ssl: false,
      sslnegotiation: "postgres",
      application_name: "sinks",
    });
    expect(connectionParameters["options"]).toBeUndefined();
    expect(connectionParameters["replication"]).toBeUndefined();
  } finally {
    for (const [name, value] of before) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
  }
});

test("WO-PG-34 behind a pooler of transactions no parameter but the name is set at startup", () => {
  const given = settings({ host: "h", user: "u", prepared_statements: false });
  expect(given).toMatchObject({ ownsSession: false, statementTimeoutMs: null, lockTimeoutMs: null });
  const config = clientConfig(given, { host: "h", port: 1, tls: false, directTls: false });
  expect(config).not.toHaveProperty("statement_timeout");
  expect(config).not.toHaveProperty("lock_timeout");
  expect(config.application_name).toBe("sinks");
});

test("WO-OB-06 no part of a URL is shown by an error or by printing the settings", () => {
  const part = fc.string({ minLength: 4, maxLength: 12, unit: fc.constantFrom(..."qxzjQXZJ0123456789%/?#@:") });
  fc.assert(
    fc.property(part, part, part, (user, password, rest) => {
      const url = `postgres://${user}:${password}@${rest}`;
      try {
        const { password: held, hosts, database, user: role } = settings({ url });
        const word = held?.reveal() ?? "";
        if (word.length < 4 || JSON.stringify([hosts, database, role]).includes(word)) return;
        expect(inspect(settings({ url }), { depth: 9 })).not.toContain(word);
      } catch (error) {
        for (const text of [user, password, rest]) expect((error as Error).message).not.toContain(text);
      }
    }),
  );
});

test("TLS modes mean what they mean to libpq", () => {
  const [ca, cert, key] = [Buffer.from("ca"), Buffer.from("cert"), Buffer.from("key")];
  const none = { ca: null, cert: null, key: null };
  const tls = (given: Record<string, unknown>) => options({ host: "h", user: "u", tls: given }).tls;
  expect(tlsAttempts(tls({ mode: "disable" }), none)).toEqual([false]);
  expect(tlsAttempts(tls({}), none)).toEqual([{ rejectUnauthorized: false }, false]);
  expect(tlsAttempts(tls({ mode: "require" }), none)).toEqual([{ rejectUnauthorized: false }]);
  expect(tlsAttempts(tls({ mode: "require" }), { ca, cert, key })).toMatchObject([{ ca, cert, key, rejectUnauthorized: true }]);
  const [chain] = tlsAttempts(tls({ mode: "verify_ca", ca_file: "ca.pem" }), { ...none, ca });
  expect(chain).toMatchObject({ ca, rejectUnauthorized: true });
  expect(chain !== false && chain?.checkServerIdentity?.("any", {} as never)).toBeUndefined();
  expect(tlsAttempts(tls({ mode: "verify_full" }), { ...none, ca })).toEqual([{ ca, rejectUnauthorized: true }]);
  const [named] = tlsAttempts(tls({ mode: "verify_full", server_name: "db.example" }), none);
  const shown = { subject: { CN: "other" }, subjectaltname: "DNS:other" } as never;
  expect(named !== false && named?.checkServerIdentity?.("other", shown)?.message).toMatch(/db\.example/);
});

test("`prefer` goes on without TLS only where the server takes none", () => {
  expect(refusesTls(new Error("The server does not support SSL connections"))).toBe(true);
  for (const code of ["28000", "EPROTO", "ERR_SSL_WRONG_VERSION_NUMBER"])
    expect(refusesTls(Object.assign(new Error(), { code }))).toBe(true);
  for (const code of ["28P01", "ECONNREFUSED", "ERR_TLS_CERT_ALTNAME_INVALID"])
    expect(refusesTls(Object.assign(new Error(), { code }))).toBe(false);
  expect(refusesTls(new Error("timeout expired"))).toBe(false);
});
