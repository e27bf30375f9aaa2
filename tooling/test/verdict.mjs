const kinds = ["unit", "integration", "fault"];

/** Arguments for vitest: kinds among `args` become project filters, the rest is handed on. */
export function vitestArguments(args) {
  const chosen = args.filter((argument) => kinds.includes(argument));
  const rest = args.filter((argument) => !kinds.includes(argument));
  return [
    "run",
    "--reporter=default",
    "--reporter=./tooling/test/tally-reporter.mjs",
    ...chosen.map((kind) => `--project=* ${kind}`),
    ...rest,
  ];
}

const nothing = { passed: 0, failed: 0, skipped: 0, failures: [], skips: [] };

/**
 * Decides how a run ends. `found` is the tally, null when vitest ended without one; a bad exit code of vitest with no failure
 * counted is a failure too, and so is a run without any test. In CI a skip for want of a server is a failure of the run.
 */
export function verdict(found, vitestCode, inCi) {
  const tally = structuredClone(found ?? nothing);
  if (tally.failed === 0 && (found === null || vitestCode !== 0)) addFailure(tally, `the test runner itself ended with code ${vitestCode}`);
  if (tally.failed === 0 && tally.passed === 0) addFailure(tally, "no test ran");
  const refused = inCi ? tally.skips.filter((skip) => !skip.allowed) : [];
  return {
    tally,
    exitCode: tally.failed > 0 || refused.length > 0 ? 1 : 0,
    lines: [
      ...tally.failures.map((name) => `failed: ${name}`),
      ...tally.skips.map(({ name, reason }) => `skipped: ${name}: ${reason}`),
      ...(refused.length > 0 ? [`${refused.length} skipped without a reason that CI accepts; a missing server is a failure here.`] : []),
    ],
  };
}

function addFailure(tally, what) {
  tally.failed += 1;
  tally.failures.push(what);
}
