/** Names that belong to packages of this project, and the package of each (FW-REG-04). */
export const builtInConnectors: ReadonlyMap<string, string> = new Map([
  ["file", "@sinks/file"],
  ["postgres", "@sinks/postgres"],
  ["redis", "@sinks/redis"],
  ["mongo", "@sinks/mongo"],
]);
