import { type Connector, defineConnector } from "@sinks/core";
import { fileOptions } from "./options.js";
import { createFileSink } from "./sink.js";

/** The connector behind `type: file`. */
export const file: Connector<typeof fileOptions> = defineConnector({
  name: "file",
  apiVersion: "1",
  summary: "Writes each message to a file of its own, or appends it to NDJSON segments.",
  status: "production",
  documentation: "docs/guides/file-sink.md",
  options: fileOptions,
  create: (options, services) => createFileSink(options, services),
});
