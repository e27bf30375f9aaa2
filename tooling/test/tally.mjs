/** Reasons that a skip may give even in CI: the machine lacks a right or a feature, not a server that could be had. */
const allowedSkip = /\b(no right to|needs (root|linux|macos|a kernel feature))\b/i;

/**
 * Counts a finished vitest run. A file that cannot be loaded, a hook that fails outside any test and an error that no test
 * caught each count as one failure, so that nothing goes wrong unseen.
 */
export function tally(modules, unhandledErrors = []) {
  const result = { passed: 0, failed: 0, skipped: 0, failures: [], skips: [] };
  const fail = (what) => {
    result.failed += 1;
    result.failures.push(what);
  };
  for (const module of modules) {
    const file = `${module.project.name} › ${module.relativeModuleId}`;
    if (module.errors().length > 0) fail(`${file} (the file itself)`);
    for (const suite of module.children.allSuites()) if (suite.errors().length > 0) fail(`${file} › ${suite.fullName} (the group itself)`);
    for (const test of module.children.allTests()) countTest(test, file, result, fail);
  }
  for (const error of unhandledErrors) fail(`outside any test: ${error.message}`);
  return result;
}

function countTest(test, file, result, fail) {
  const name = `${file} › ${test.fullName}`;
  const { state, note } = test.result();
  if (state === "passed") result.passed += 1;
  else if (state === "failed") fail(name);
  else if (state === "skipped") {
    result.skipped += 1;
    result.skips.push({ name, reason: note ?? "no reason given", allowed: allowedSkip.test(note ?? "") });
  } else fail(`${name} (never ended)`);
}

/** The last line of a test run. */
export function summaryLine({ passed, failed, skipped }) {
  return `${passed} passed, ${failed} failed, ${skipped} skipped`;
}
