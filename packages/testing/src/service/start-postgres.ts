import { startPostgresContainer } from "./postgres-container.js";
import { postgresDatabases } from "./postgres-databases.js";
import { startPostgresProcess } from "./postgres-process.js";
import { postgresVersion } from "./postgres-query.js";
import { postgresRecipe } from "./postgres-recipe.js";
import type { PostgresOptions, PostgresServer } from "./postgres-server.js";
import { resolveServer } from "./resolve-server.js";
import { sharedServer } from "./shared-server.js";

/**
 * Starts a PostgreSQL, or takes the one that TEST_POSTGRES_URL names. Use with `await using`: dispose ends the process and
 * removes its data. Rejects with everything that was tried when no server can be had.
 */
export async function startPostgres(options: PostgresOptions = {}): Promise<PostgresServer> {
  const { environment = process.env, ownServer, ...demands } = options;
  const source = await resolveServer(postgresRecipe, {
    environment,
    ownServer: ownServer === true || Object.values(demands).some((demand) => demand !== undefined),
  });
  switch (source.kind) {
    case "url":
      return namedServer(source.url);
    case "binary":
      return startPostgresProcess(source, options);
    case "container":
      return startPostgresContainer(source.image, options);
  }
}

async function namedServer(url: string): Promise<PostgresServer> {
  const { refuse, ...verbs } = sharedServer(postgresRecipe.urlVariable, "startPostgres");
  const { database, createDatabase, drop } = postgresDatabases(url, url);
  return {
    ...verbs,
    url,
    port: Number(new URL(url).port || 5432),
    version: await postgresVersion(url),
    superuserUrl: url,
    certificates: null,
    database,
    createDatabase,
    restart: refuse,
    [Symbol.asyncDispose]: drop,
  };
}
