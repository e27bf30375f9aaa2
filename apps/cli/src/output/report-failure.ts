import { errorExitCode } from "../error-exit-code.js";
import { exitCodes } from "../exit-code.js";
import type { Host } from "../host.js";
import { failureDocument, isForeseen, problemLine, problemsOf } from "./failure-document.js";
import { jsonText } from "./json-text.js";
import { reportInternalError } from "./report-internal-error.js";
import type { Format } from "./result.js";

/**
 * Says on stderr why a command failed and gives its exit code: one `sinks: …` line per problem, or with `--format json`
 * one JSON document on one line. Never a stack trace, never a value of the configuration.
 */
export function reportFailure(error: unknown, host: Host, format: Format): number {
  if (!isForeseen(error)) {
    reportInternalError(error, host);
    return exitCodes.failure;
  }
  if (format === "json") host.stderr.write(`${jsonText(failureDocument(error))}\n`);
  else for (const problem of problemsOf(error)) host.stderr.write(`sinks: ${problemLine(problem)}\n`);
  return errorExitCode(error);
}
