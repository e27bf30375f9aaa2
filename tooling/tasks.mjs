const turbo = (...tasks) => ["turbo", "run", ...tasks, "--output-logs=errors-only", "--log-order=grouped"];

/** Builds every package; what has not changed comes from the cache. */
export const build = turbo("build");

const tasks = {
  build: () => [build],
  demo: (args) => [build, ["node", "tooling/demo/demo.mjs", ...args]],
  test: (args) => [["node", "tooling/test/run.mjs", ...args]],
  "test-long": (args) => [["node", "tooling/test/long.mjs", ...args]],
  bench: (args) => [build, ["node", "tooling/bench/bench.mjs", ...args]],
  check: (args) => [
    [
      ...turbo("lint", "layout", "unused", "types", "test:unit", "build", "package", "documents", "surface", "reference"),
      "--continue=dependencies-successful",
      ...args,
    ],
  ],
  fix: () => [
    ["biome", "check", "--write", "."],
    build,
    ["node", "tooling/api/check.mjs", "--write"],
    ["node", "tooling/reference/generate.mjs"],
  ],
  tarballs: () => [build, ["node", "tooling/package/tarballs.mjs"]],
  "release-version": () => [
    ["changeset", "version"],
    ["pnpm", "install", "--lockfile-only", "--no-frozen-lockfile"],
  ],
  release: () => [build, ["changeset", "publish"]],
};

/** The commands of a task, in order, or null for a word that names none. */
export function commandsOf(task, args) {
  return Object.hasOwn(tasks, task) ? tasks[task](args) : null;
}
