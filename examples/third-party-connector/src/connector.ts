import { type Connector, defineConnector } from "@sinks/core";
import { lineLogOptions } from "./options.js";
import { createLineLogSink } from "./sink.js";

/** The connector behind `type: line-log`. */
export const lineLog: Connector<typeof lineLogOptions> = defineConnector({
  name: "line-log",
  apiVersion: "1",
  summary: "Appends one line of JSON for each message to a file.",
  status: "third_party",
  documentation: "examples/third-party-connector/README.md",
  options: lineLogOptions,
  create: (options, services) => createLineLogSink(options, services.workingDirectory),
});
