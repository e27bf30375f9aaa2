/** Test settings of every package; `project` is unit, integration or fault, by the suffix of the test file. */
export function preset(overrides = {}) {
  return { test: { include: ["test/**/*.test.ts", "src/**/*.test.ts"], testTimeout: 60_000, hookTimeout: 60_000, ...overrides } };
}
