import {
  ConfigurationError,
  CredentialsError,
  DestinationUnavailableError,
  isSinkError,
  type SinkError,
  TemporarySinkError,
} from "@sinks/core";

/** Codes of the operating system that concern the destination as a whole; any other one is temporary and uses budget. */
const verdicts: ReadonlyMap<string, "unavailable" | "credentials"> = new Map([
  ["ENOSPC", "unavailable"],
  ["EDQUOT", "unavailable"],
  ["EROFS", "unavailable"],
  ["EIO", "unavailable"],
  ["EACCES", "credentials"],
  ["EPERM", "credentials"],
]);

/** Gives an error of a write its class. */
export function toWriteError(error: unknown): SinkError {
  if (isSinkError(error)) return error;
  const code = codeOf(error);
  const options = { destinationCode: code, cause: error };
  switch (verdicts.get(code)) {
    case "unavailable":
      return new DestinationUnavailableError(`the line log takes nothing at present (${code})`, options);
    case "credentials":
      return new CredentialsError(`the right to write the line log is missing (${code})`, options);
    default:
      return new TemporarySinkError(`the line log could not be written (${code})`, options);
  }
}

/** Gives an error of a start its class: a path that cannot be a file is for a person to correct. */
export function toStartError(error: unknown): Error {
  const code = codeOf(error);
  if (!["ENOENT", "ENOTDIR", "EISDIR"].includes(code)) return toWriteError(error);
  return new ConfigurationError(`sink.file: cannot be a file here (${code}); create its folder or correct the path`, { cause: error });
}

function codeOf(error: unknown): string {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === "string" ? code : "unknown";
}
