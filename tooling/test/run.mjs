/**
 * Runs the unit, integration and fault tests of every workspace and ends with one line, `N passed, N failed, N skipped`.
 * Arguments: kinds to run (`unit`, `integration`, `fault`), then anything vitest understands.
 */
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { summaryLine } from "./tally.mjs";
import { verdict, vitestArguments } from "./verdict.mjs";

const root = resolve(fileURLToPath(import.meta.url), "../../..");
const deadlineMs = 25 * 60_000;

const scratch = mkdtempSync(join(tmpdir(), "sinks-test-"));
const tallyFile = join(scratch, "tally.json");

function runVitest(args) {
  return new Promise((done) => {
    const child = spawn(process.execPath, [join(root, "node_modules/vitest/vitest.mjs"), ...args], {
      cwd: root,
      env: { ...process.env, SINKS_TALLY_FILE: tallyFile },
      stdio: ["ignore", "inherit", "inherit"],
    });
    const deadline = setTimeout(() => {
      process.stdout.write(`The tests did not end within ${deadlineMs / 60_000} minutes and are stopped.\n`);
      child.kill("SIGTERM");
      setTimeout(() => child.kill("SIGKILL"), 10_000).unref();
    }, deadlineMs);
    for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => child.kill(signal));
    child.once("exit", (code) => {
      clearTimeout(deadline);
      done(code ?? 1);
    });
  });
}

function readTally() {
  try {
    return JSON.parse(readFileSync(tallyFile, "utf8"));
  } catch {
    return null;
  }
}

try {
  const code = await runVitest(vitestArguments(process.argv.slice(2)));
  const result = verdict(readTally(), code, process.env.CI === "true" || process.env.CI === "1");
  for (const line of result.lines) process.stdout.write(`${line}\n`);
  process.stdout.write(`${summaryLine(result.tally)}\n`);
  process.exitCode = result.exitCode;
} finally {
  rmSync(scratch, { recursive: true, force: true });
}
