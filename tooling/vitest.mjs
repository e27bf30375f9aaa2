import { availableParallelism } from "node:os";
import { defaultExclude } from "vitest/config";

/**
 * The kinds of tests, told apart by the suffix of the file. Kinds run one after another, so that real servers and fault
 * injection never compete with the unit tests of another package.
 */
const kinds = [
  { name: "unit", suffix: "", exclude: ["**/*.integration.test.*", "**/*.fault.test.*"], workers: availableParallelism(), timeout: 30_000 },
  { name: "integration", suffix: ".integration", exclude: [], workers: 2, timeout: 120_000 },
  { name: "fault", suffix: ".fault", exclude: [], workers: 1, timeout: 300_000 },
];

const folders = ["src", "test"];

/** One vitest project per kind for the package in `directory`; `label` sets packages apart in a run over all of them. */
export function projects(directory, label = "") {
  return kinds.map(({ name, suffix, exclude, workers, timeout }, order) => ({
    test: {
      name: label === "" ? name : `${label} ${name}`,
      root: directory,
      include: [...folders.map((folder) => `${folder}/**/*${suffix}.test.ts`), `*/**/*${suffix}.test.mjs`, `*${suffix}.test.mjs`],
      exclude: [...defaultExclude, ...exclude],
      pool: "forks",
      maxWorkers: workers,
      sequence: { groupOrder: order },
      testTimeout: timeout,
      hookTimeout: timeout,
    },
  }));
}

/** Test settings of one package: its kinds as projects, and coverage of its sources for the unit tests. */
export function preset(directory) {
  return {
    test: {
      projects: projects(directory),
      passWithNoTests: true,
      coverage: { provider: "v8", include: ["src/**/*.ts"], reporter: ["text-summary", "html"], reportsDirectory: `${directory}/coverage` },
    },
  };
}
