import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";

const fixture = join(import.meta.dirname, "fixture");
const reporter = join(import.meta.dirname, "tally-reporter.mjs");
const vitest = join(dirname(createRequire(import.meta.url).resolve("vitest/package.json")), "vitest.mjs");

test("a real run of vitest is counted to the last file that does not load and hook that fails", () => {
  const scratch = mkdtempSync(join(tmpdir(), "tally-"));
  const tallyFile = join(scratch, "tally.json");
  try {
    spawnSync(process.execPath, [vitest, "run", "--root", fixture, `--reporter=${reporter}`], {
      env: { ...process.env, SINKS_TALLY_FILE: tallyFile },
    });
    expect(JSON.parse(readFileSync(tallyFile, "utf8"))).toEqual({
      passed: 1,
      failed: 3,
      skipped: 2,
      failures: expect.arrayContaining([
        "fixture › outcomes.fixture.mjs › fails",
        "fixture › outcomes.fixture.mjs › a group whose hook fails (the group itself)",
        "fixture › unloadable.fixture.mjs (the file itself)",
      ]),
      skips: expect.arrayContaining([
        { name: "fixture › outcomes.fixture.mjs › is skipped", reason: "needs root: to mount", allowed: true },
      ]),
    });
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
});
