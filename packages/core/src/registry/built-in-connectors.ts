/** Names that belong to packages of this project, and the package of each (FW-REG-04). */
export const builtInConnectors: ReadonlyMap<string, string> = new Map([
  ["file", "@sinks/file"],
  ["postgres", "@sinks/postgres"],
  ["redis", "@sinks/redis"],
  ["mongo", "@sinks/mongo"],
]);

/** Those of them that have no release yet: there is no package to install. */
export const plannedConnectors: ReadonlySet<string> = new Set(["redis", "mongo"]);
