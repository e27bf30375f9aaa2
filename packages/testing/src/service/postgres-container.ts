import { eventually } from "../eventually.js";
import { type ContainerLibrary, loadTestcontainers, startContainer } from "./container-library.js";
import { postgresDatabases } from "./postgres-databases.js";
import { postgresVersion } from "./postgres-query.js";
import type { PostgresOptions, PostgresRestart, PostgresServer } from "./postgres-server.js";

/** Starts PostgreSQL in a container on a fixed port of this machine; it takes settings only. */
export async function startPostgresContainer(
  image: string,
  options: PostgresOptions,
  library: () => Promise<ContainerLibrary> = loadTestcontainers,
): Promise<PostgresServer> {
  const { password, tls = false, accessRules, settings = {} } = options;
  if (password !== undefined || tls !== false || accessRules !== undefined) {
    throw new Error("password, tls and accessRules need a PostgreSQL on this machine; there is only a Docker engine");
  }
  const url = (port: number) => `postgres://postgres@127.0.0.1:${port}/postgres`;
  const all = { ...(options.durable === true ? {} : { fsync: "off" }), ...settings };
  const server = await startContainer({
    image,
    library,
    port: 5432,
    describe: (builder) =>
      builder
        .withEnvironment({ POSTGRES_HOST_AUTH_METHOD: "trust" })
        .withCommand(["postgres", ...Object.entries(all).flatMap(([name, value]) => ["-c", `${name}=${value}`])]),
    url,
    answers: (port) => eventually(() => postgresVersion(url(port)), { deadlineMs: 30_000, what: "PostgreSQL in its container" }),
  });
  return Object.assign(server, {
    superuserUrl: server.url,
    certificates: null,
    ...postgresDatabases(server.url, server.url),
    async restart(changes: PostgresRestart = {}) {
      if (changes.settings !== undefined) throw new Error("a server in a container keeps the settings it was started with");
      await server.relaunch();
    },
  });
}
