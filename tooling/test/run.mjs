/**
 * Builds, runs the unit, integration and fault tests of every workspace, and ends with one line, `N passed, N failed, N skipped`.
 * Arguments: kinds to run (`unit`, `integration`, `fault`), then anything vitest understands.
 */
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "../tasks.mjs";
import { summaryLine } from "./tally.mjs";
import { verdict, vitestArguments } from "./verdict.mjs";

const root = resolve(fileURLToPath(import.meta.url), "../../..");
const deadlineMs = 25 * 60_000;

const scratch = mkdtempSync(join(tmpdir(), "sinks-test-"));
const tallyFile = join(scratch, "tally.json");

let running = null;
for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => running?.kill(signal));

function run(command, args) {
  return new Promise((done) => {
    running = spawn(command, args, {
      cwd: root,
      env: { ...process.env, SINKS_TALLY_FILE: tallyFile },
      stdio: ["ignore", "inherit", "inherit"],
    });
    const deadline = setTimeout(() => {
      process.stdout.write(`The tests did not end within ${deadlineMs / 60_000} minutes and are stopped.\n`);
      running.kill("SIGTERM");
      setTimeout(() => running.kill("SIGKILL"), 10_000).unref();
    }, deadlineMs);
    running.once("error", () => done({ code: 1, deadline }));
    running.once("exit", (code) => done({ code: code ?? 1, deadline }));
  }).then(({ code, deadline }) => {
    clearTimeout(deadline);
    return code;
  });
}

async function outcome() {
  const built = await run(build[0], build.slice(1));
  if (built !== 0) return { found: { passed: 0, failed: 1, skipped: 0, failures: ["the build"], skips: [] }, code: built };
  const code = await run(process.execPath, [join(root, "node_modules/vitest/vitest.mjs"), ...vitestArguments(process.argv.slice(2))]);
  return { found: readTally(), code };
}

function readTally() {
  try {
    return JSON.parse(readFileSync(tallyFile, "utf8"));
  } catch {
    return null;
  }
}

try {
  const { found, code } = await outcome();
  const result = verdict(found, code, process.env.CI === "true" || process.env.CI === "1");
  for (const line of result.lines) process.stdout.write(`${line}\n`);
  process.stdout.write(`${summaryLine(result.tally)}\n`);
  process.exitCode = result.exitCode;
} finally {
  rmSync(scratch, { recursive: true, force: true });
}
