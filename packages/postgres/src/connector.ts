import { type Connector, defineConnector } from "@sinks/core";
import { postgresNotices } from "./notices.js";
import { postgresOptions } from "./options.js";
import { createPostgresSink } from "./sink.js";

/** The connector behind `type: postgres`. */
export const postgres: Connector<typeof postgresOptions> = defineConnector({
  name: "postgres",
  apiVersion: "1",
  summary: "Writes each message to a table, or what a write map or a handler makes of it: rows, updates, deletes, named statements.",
  status: "production",
  documentation: "docs/guides/postgres-sink.md",
  options: postgresOptions,
  notices: postgresNotices,
  create: (options, services) => createPostgresSink(options, services),
});
