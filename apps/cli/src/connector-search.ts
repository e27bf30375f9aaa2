import type { ConnectorSearch } from "@sinks/core/runtime";
import type { Host } from "./host.js";

/** Where connectors are looked up: the project of the working directory or the one named, then beside the command (FW-REG-04). */
export function connectorSearch(host: Host, project: string | undefined): ConnectorSearch {
  return { workingDirectory: host.workingDirectory, project, command: host.commandUrl };
}
