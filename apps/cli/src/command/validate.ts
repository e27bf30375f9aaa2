import { resolveSecrets, resolveSinkOptions } from "@sinks/core/runtime";
import type { ConfigurationChoice } from "../configuration-choice.js";
import { errorExitCode } from "../error-exit-code.js";
import { exitCodes } from "../exit-code.js";
import type { Host } from "../host.js";
import { warn } from "../load.js";
import { oneLine } from "../output/escape.js";
import { isForeseen, type Problem, problemLine, problemsOf } from "../output/failure-document.js";
import { reportFailure } from "../output/report-failure.js";
import { type Format, printResult } from "../output/result.js";
import { styleOf } from "../output/style.js";
import { loadChosenPipeline } from "../pipeline.js";
import { UsageError } from "../usage-error.js";

/** What `sinks validate` was asked for. */
export interface ValidateRequest {
  readonly choice: ConfigurationChoice;
  readonly format: Format;
}

interface Verdict {
  readonly valid: boolean;
  readonly problems: readonly Problem[];
  readonly warnings: readonly string[];
}

/** Checks a configuration with its connector, without network and without the values of secrets (FW-CLI-03). */
export async function validate(host: Host, { choice, format }: ValidateRequest): Promise<number> {
  let loaded: Awaited<ReturnType<typeof loadChosenPipeline>>;
  try {
    loaded = await loadChosenPipeline(host, choice);
  } catch (error) {
    if (!isForeseen(error) || error instanceof UsageError) throw error;
    const verdict: Verdict = { valid: false, problems: problemsOf(error), warnings: [] };
    if (format === "text") return reportFailure(error, host, format);
    printResult(host, format, verdict, () => "");
    return errorExitCode(error);
  }
  const { configuration, connector, source } = loaded;
  const warnings = [
    ...loaded.notices,
    ...unsetSecrets(() => resolveSecrets(configuration, host.environment)),
    ...unsetSecrets(() => resolveSinkOptions(configuration, connector, host.environment)),
  ];
  if (format === "text") warn(host, warnings);
  const verdict: Verdict = { valid: true, problems: [], warnings };
  const { good } = styleOf(host.stdout, host.environment);
  printResult(host, format, verdict, () => `${oneLine(source)}: ${good("valid")}\n`);
  return exitCodes.good;
}

/** What a start in this environment would say of secrets; only a warning here, because a configuration is often checked elsewhere. */
function unsetSecrets(resolve: () => unknown): readonly string[] {
  try {
    resolve();
    return [];
  } catch (error) {
    return problemsOf(error).map(problemLine);
  }
}
