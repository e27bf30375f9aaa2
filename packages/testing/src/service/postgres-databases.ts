import { randomUUID } from "node:crypto";
import { postgresQuery } from "./postgres-query.js";

/** The databases of one server: their addresses, and new ones. */
export interface PostgresDatabases {
  database(name: string): string;
  createDatabase(): Promise<string>;
  /** Drops those that were made here, also under open connections. */
  drop(): Promise<void>;
}

/** `url` is handed out, `superuserUrl` makes the databases. */
export function postgresDatabases(url: string, superuserUrl: string): PostgresDatabases {
  const made: string[] = [];
  const owner = decodeURIComponent(new URL(url).username).replaceAll('"', '""');
  const database = (name: string) => {
    const address = new URL(url);
    address.pathname = `/${encodeURIComponent(name)}`;
    return address.href;
  };
  return {
    database,
    async createDatabase() {
      const name = `sinks_${randomUUID().replaceAll("-", "")}`;
      await postgresQuery(superuserUrl, `CREATE DATABASE ${name} OWNER "${owner}"`);
      made.push(name);
      return database(name);
    },
    async drop() {
      for (const name of made.splice(0)) await postgresQuery(superuserUrl, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
    },
  };
}
