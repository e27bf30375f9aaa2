import {
  CredentialsError,
  DestinationUnavailableError,
  type Envelope,
  isSinkError,
  NotAttemptedError,
  PermanentSinkError,
  type SinkError,
  TemporarySinkError,
} from "@sinks/core";
import { errnoOf } from "./client.js";

/** What an errno says: about the whole destination, about rights, about this one path, or nothing certain. */
type Verdict = "unavailable" | "credentials" | "path";

const verdicts: ReadonlyMap<string, Verdict> = new Map([
  ["ENOSPC", "unavailable"],
  ["EDQUOT", "unavailable"],
  ["EROFS", "unavailable"],
  ["EIO", "unavailable"],
  ["EMFILE", "unavailable"],
  ["ENFILE", "unavailable"],
  ["ENODEV", "unavailable"],
  ["ENXIO", "unavailable"],
  ["ESTALE", "unavailable"],
  ["EREMOTEIO", "unavailable"],
  ["ENOTCONN", "unavailable"],
  ["EHOSTDOWN", "unavailable"],
  ["EHOSTUNREACH", "unavailable"],
  ["ENETUNREACH", "unavailable"],
  ["ESHUTDOWN", "unavailable"],
  ["EACCES", "credentials"],
  ["EPERM", "credentials"],
  ["ENAMETOOLONG", "path"],
  ["ELOOP", "path"],
  ["ENOTDIR", "path"],
  ["EISDIR", "path"],
]);

/** Errno words that mean the root itself is gone when the root is what was asked for. */
const rootGone: ReadonlySet<string> = new Set(["ENOENT", "ENOTDIR", "ELOOP", "ENAMETOOLONG", "EISDIR"]);

/**
 * Gives an error of the file system its class (FW-ERR-05, FW-FILE-07). `place` tells whose path was used: one that only the
 * root decides, or one of a single message. Anything unknown is temporary and uses budget, so that it is never endless.
 */
export function toFileError(error: unknown, place: "root" | "message"): SinkError {
  if (isSinkError(error)) return error;
  const errno = errnoOf(error);
  if (errno === null) return new TemporarySinkError("unexpected error while writing a file", { code: "unexpected", cause: error });
  const options = { destinationCode: errno, cause: error };
  if (place === "root" && rootGone.has(errno))
    return new DestinationUnavailableError(`sink.directory: the folder is not there (${errno}); make it, or name another one`, options);
  switch (verdicts.get(errno)) {
    case "unavailable":
      return new DestinationUnavailableError(
        `sink.directory: the file system takes no file at present (${errno}); free or repair it`,
        options,
      );
    case "credentials":
      return new CredentialsError(
        `sink.directory: the file system refused the right to write (${errno}); give this user the right, or name another folder`,
        options,
      );
    case "path":
      return invalidPath(errno, error);
    default:
      return new TemporarySinkError(`a file operation failed (${errno})`, options);
  }
}

/** The message's finished path cannot be used; permanent for that message alone (FW-FILE-06). */
export function invalidPath(reason: string, cause?: unknown): PermanentSinkError {
  return new PermanentSinkError(`the path of this message's file cannot be used (${reason})`, {
    code: "invalid_path",
    destinationCode: reason,
    ...(cause === undefined ? {} : { cause }),
  });
}

/** The file that the message needs holds something else (FW-FILE-05). */
export function filenameConflict(message: Envelope): PermanentSinkError {
  const { subject, stream, streamSequence } = message;
  return new PermanentSinkError(
    `the file for ${subject} (${stream ?? "no stream"}, sequence ${streamSequence ?? "unknown"}) holds something else`,
    {
      code: "filename_conflict",
    },
  );
}

/** The answer for a message that the sink did not come to. */
export function notAttempted(): NotAttemptedError {
  return new NotAttemptedError("not written: the batch ended before this message");
}
