import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { type ServerBinary, type ServerPlace, startOwnedServer } from "./owned-server.js";
import { copyPostgresData, run } from "./postgres-data.js";
import { postgresDatabases } from "./postgres-databases.js";
import { postgresQuery } from "./postgres-query.js";
import type { PostgresOptions, PostgresRestart, PostgresServer } from "./postgres-server.js";
import { serverAccount } from "./server-account.js";
import { type CertificateFiles, makeCertificate } from "./server-certificate.js";
import { type ServerProcess, spawnServer } from "./spawn-server.js";

// A commit is in the system's memory before it is acknowledged, so it outlives a kill of the server; a flush is what costs.
const fast = { fsync: "off", full_page_writes: "off" };

/** Starts an own PostgreSQL in a temporary folder. */
export async function startPostgresProcess(found: ServerBinary, options: PostgresOptions): Promise<PostgresServer> {
  const account = await serverAccount(found.binary, ["postgres", "nobody"]);
  let settings = options.settings ?? {};
  let certificates: CertificateFiles | null = null;
  const role = options.password === undefined ? "postgres" : `sinks:${encodeURIComponent(options.password)}`;
  const server = await startOwnedServer({
    name: "postgres",
    purpose: "postgres",
    found,
    url: (port) => `postgres://${role}@127.0.0.1:${port}/postgres`,
    async prepare(folder) {
      await copyPostgresData(dataFolder(folder), found, account, options.environment ?? process.env);
      await writeFile(join(dataFolder(folder), "pg_hba.conf"), accessRules(options));
      if (options.tls !== undefined && options.tls !== false) {
        const names = options.tls === true ? ["localhost", "127.0.0.1"] : options.tls.names;
        certificates = await makeCertificate(join(folder, "certificates"), names);
      }
      if (account.owner !== null) await run("chown", ["-R", account.owner, folder]);
    },
    async launch(place) {
      const all = { ...(options.durable === true ? {} : fast), ...tlsSettings(certificates), ...settings };
      return launch(found.binary, account.runAs, place, all);
    },
  });
  const superuserUrl = `postgres://postgres@127.0.0.1:${server.port}/postgres`;
  if (options.password !== undefined) {
    const password = options.password.replaceAll("'", "''");
    await postgresQuery(superuserUrl, `CREATE ROLE sinks LOGIN PASSWORD '${password}'; GRANT ALL ON SCHEMA public TO sinks`);
  }
  const { database, createDatabase } = postgresDatabases(server.url, superuserUrl);
  return Object.assign(server, {
    superuserUrl,
    certificates,
    database,
    createDatabase,
    restart: (changes: PostgresRestart = {}) =>
      server.relaunch(async () => {
        settings = changes.settings ?? settings;
      }),
  });
}

function dataFolder(folder: string): string {
  return join(folder, "data");
}

function accessRules({ password, accessRules: own }: PostgresOptions): string {
  const everybody = `host all all 127.0.0.1/32 ${password === undefined ? "trust" : "scram-sha-256"}`;
  return ["host all postgres 127.0.0.1/32 trust", ...(own ?? [everybody]), ""].join("\n");
}

function tlsSettings(certificates: CertificateFiles | null): Record<string, string> {
  if (certificates === null) return {};
  return { ssl: "on", ssl_ca_file: certificates.caFile, ssl_cert_file: certificates.certFile, ssl_key_file: certificates.keyFile };
}

async function launch(
  binary: string,
  runAs: readonly string[],
  { folder, logFile, port }: ServerPlace,
  settings: Readonly<Record<string, string>>,
): Promise<ServerProcess> {
  const all = { listen_addresses: "127.0.0.1", unix_socket_directories: "", shared_buffers: "32MB", max_connections: "60", ...settings };
  const args = [
    "-D",
    dataFolder(folder),
    "-p",
    String(port),
    ...Object.entries(all).flatMap(([name, value]) => ["-c", `${name}=${value}`]),
  ];
  const url = `postgres://postgres@127.0.0.1:${port}/postgres`;
  const start = () =>
    spawnServer({
      name: "postgres",
      binary,
      args,
      runAs,
      // Ends the sessions too; SIGTERM would wait for clients that never leave.
      stopSignal: "SIGINT",
      logFile,
      // The folder tells that it is our server that answers on this port.
      ready: async () => (await postgresQuery(url, "SHOW data_directory"))[0]?.[0] === dataFolder(folder),
    });
  const deadline = performance.now() + 10_000;
  for (;;) {
    try {
      return await start();
    } catch (error) {
      // The children of a killed server leave its shared memory and its lock a moment later than itself.
      const isLeaving = /shared memory block|lock file/.test((error as Error).message);
      if (!isLeaving || performance.now() > deadline) throw error;
      await wait(50);
    }
  }
}
