import { isErrorKind, TemporarySinkError } from "@sinks/core";
import { expect, test } from "vitest";
import { toFileError } from "../src/errors.js";
import { errno } from "./fixture.js";

const table = [
  ["ENOSPC", "message", "DestinationUnavailableError", "destination_unavailable"],
  ["EDQUOT", "message", "DestinationUnavailableError", "destination_unavailable"],
  ["EROFS", "message", "DestinationUnavailableError", "destination_unavailable"],
  ["EIO", "message", "DestinationUnavailableError", "destination_unavailable"],
  ["EMFILE", "message", "DestinationUnavailableError", "destination_unavailable"],
  ["ENFILE", "message", "DestinationUnavailableError", "destination_unavailable"],
  ["ENODEV", "message", "DestinationUnavailableError", "destination_unavailable"],
  ["ESTALE", "message", "DestinationUnavailableError", "destination_unavailable"],
  ["ENOENT", "root", "DestinationUnavailableError", "destination_unavailable"],
  ["ENOTDIR", "root", "DestinationUnavailableError", "destination_unavailable"],
  ["EACCES", "message", "CredentialsError", "credentials_refused"],
  ["EPERM", "root", "CredentialsError", "credentials_refused"],
  ["ENAMETOOLONG", "message", "PermanentSinkError", "invalid_path"],
  ["ELOOP", "message", "PermanentSinkError", "invalid_path"],
  ["ENOTDIR", "message", "PermanentSinkError", "invalid_path"],
  ["EISDIR", "message", "PermanentSinkError", "invalid_path"],
  ["ENOENT", "message", "TemporarySinkError", "temporary"],
  ["EBUSY", "message", "TemporarySinkError", "temporary"],
  ["EWHATEVER", "root", "TemporarySinkError", "temporary"],
] as const;

test.each(table)("FW-ERR-05 FW-FILE-07 %s of a %s path is %s", (code, place, kind, own) => {
  const error = toFileError(errno(code), place);
  expect(error.name).toBe(kind);
  expect(error.code).toBe(own);
  expect(error.destinationCode).toBe(code);
  expect(error.cause).toBeInstanceOf(Error);
});

test("FW-ERR-05 what is no errno error is temporary and a sink error passes unchanged", () => {
  const other = toFileError(new TypeError("boom"), "message");
  expect([other.name, other.code]).toEqual(["TemporarySinkError", "unexpected"]);
  const own = new TemporarySinkError("as it was");
  expect(toFileError(own, "root")).toBe(own);
});

test("FW-ERR-07 the text of an error names no path", () => {
  const secret = Object.assign(new Error("EACCES: permission denied, open '/srv/secret/name'"), {
    code: "EACCES",
    path: "/srv/secret/name",
  });
  const error = toFileError(secret, "message");
  expect(error.message).not.toContain("secret");
  expect(JSON.stringify(error)).not.toContain("secret");
  expect(isErrorKind(error, "CredentialsError")).toBe(true);
});
