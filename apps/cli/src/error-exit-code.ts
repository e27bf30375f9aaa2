import { isErrorKind } from "@sinks/core";
import { exitCodes } from "./exit-code.js";
import { NotFoundError } from "./not-found-error.js";
import { UsageError } from "./usage-error.js";

/** The exit code that an error means (FW-CLI-02). */
export function errorExitCode(error: unknown): number {
  if (error instanceof UsageError) return exitCodes.configuration;
  if (error instanceof NotFoundError) return exitCodes.notFound;
  return isErrorKind(error, "ConfigurationError") ? exitCodes.configuration : exitCodes.failure;
}
