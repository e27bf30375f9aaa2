import { isErrorKind } from "@sinks/core";
import { expect, test } from "vitest";
import type { SessionFailure } from "../src/connection/session.js";
import { toConnectError, toPostgresError, verdictOf } from "../src/errors.js";

const failed = (code: string, fields: Record<string, unknown> = {}, kind: SessionFailure["kind"] = "server"): SessionFailure => ({
  kind,
  code,
  sent: 1,
  error: Object.assign(new Error("the server's own words"), { severity: "ERROR", code, ...fields }),
});

test.each([
  // Listed codes and classes, row by row of WO-ERR section 12.
  ["21000", "halve", "PermanentSinkError"],
  ["22P02", "permanent", "PermanentSinkError"],
  ["22003", "permanent", "PermanentSinkError"],
  ["23505", "permanent", "PermanentSinkError"],
  ["23502", "permanent", "PermanentSinkError"],
  ["23514", "permanent", "PermanentSinkError"],
  ["23503", "parent_missing", "TemporarySinkError"],
  ["44000", "permanent", "PermanentSinkError"],
  ["P0001", "permanent", "PermanentSinkError"],
  ["54000", "permanent", "PermanentSinkError"],
  ["54001", "permanent", "PermanentSinkError"],
  ["0A000", "permanent", "PermanentSinkError"],
  ["42601", "schema", "DestinationUnavailableError"],
  ["42703", "schema", "DestinationUnavailableError"],
  ["42804", "schema", "DestinationUnavailableError"],
  ["42P01", "schema", "DestinationUnavailableError"],
  ["42P10", "schema", "DestinationUnavailableError"],
  ["55000", "schema", "DestinationUnavailableError"],
  ["3F000", "schema", "DestinationUnavailableError"],
  ["42501", "right", "CredentialsError"],
  ["26000", "stale_plan", "TemporarySinkError"],
  ["40001", "temporary", "TemporarySinkError"],
  ["40P01", "temporary", "TemporarySinkError"],
  ["55P03", "temporary", "TemporarySinkError"],
  ["57014", "temporary", "TemporarySinkError"],
  ["55006", "temporary", "TemporarySinkError"],
  ["53100", "unavailable", "DestinationUnavailableError"],
  ["53300", "unavailable", "DestinationUnavailableError"],
  ["57P03", "unavailable", "DestinationUnavailableError"],
  ["25006", "unavailable", "DestinationUnavailableError"],
  ["08001", "unavailable", "DestinationUnavailableError"],
  ["08004", "unavailable", "DestinationUnavailableError"],
  ["28000", "credentials", "CredentialsError"],
  ["28P01", "credentials", "CredentialsError"],
  ["3D000", "configuration", "DestinationUnavailableError"],
  // Unlisted codes follow their class, and an unknown one is temporary, never permanent.
  ["40002", "temporary", "TemporarySinkError"],
  ["25P02", "temporary", "TemporarySinkError"],
  ["P0002", "temporary", "TemporarySinkError"],
  ["58030", "temporary", "TemporarySinkError"],
  ["XX000", "temporary", "TemporarySinkError"],
  ["ZZ999", "temporary", "TemporarySinkError"],
] as const)("WO-ERR-01 SQLSTATE %s is %s: %s", (code, verdict, kind) => {
  expect(verdictOf(failed(code))).toBe(verdict);
  const error = toPostgresError(failed(code), "readings", true);
  expect(error.name).toBe(kind);
  expect(error.destinationCode).toBe(code);
});

test.each(["08000", "08003", "08006", "08007", "08P01", "40003", "57P01", "57P02", "57P04", "57P05", "25P03"])(
  "WO-ERR-02 SQLSTATE %s is a lost connection: unknown when COMMIT was sent, else not applied",
  (code) => {
    expect(verdictOf(failed(code))).toBe("lost");
    expect(toPostgresError(failed(code), "readings", true).name).toBe("UnknownOutcomeError");
    expect(toPostgresError(failed(code), "readings", false).name).toBe("DestinationUnavailableError");
  },
);

test.each(["ECONNRESET", "EPIPE", "ETIMEDOUT", null])("WO-ERR-02 a connection that ended with %s is lost", (code) => {
  const failure: SessionFailure = { kind: "lost", code, sent: 1, error: Object.assign(new Error("gone"), code === null ? {} : { code }) };
  expect(verdictOf(failure)).toBe("lost");
  expect(toPostgresError(failure, "readings", true)).toMatchObject({ name: "UnknownOutcomeError", destinationCode: code });
  expect(toPostgresError(failure, "readings", false)).toMatchObject({ name: "DestinationUnavailableError", destinationCode: code });
});

test.each(["FATAL", "PANIC"])("WO-ERR-02 severity %s is a lost connection whatever its code", (severity) => {
  expect(verdictOf(failed("23505", { severity }))).toBe("lost");
});

test("WO-ERR-04, WO-ERR-06 the server's routine tells row-level security and a changed plan apart", () => {
  expect(verdictOf(failed("42501", { routine: "ExecWithCheckOptions" }))).toBe("permanent");
  expect(verdictOf(failed("42501", { routine: "aclcheck_error" }))).toBe("right");
  expect(verdictOf(failed("0A000", { routine: "RevalidateCachedQuery" }))).toBe("stale_plan");
});

test("WO-OB-03 the message has codes and names, and none of the server's own words", () => {
  const failure = failed("23505", {
    message: 'duplicate key value violates unique constraint "readings_pkey"',
    detail: "Key (id)=(4711) already exists.",
    hint: "a hint",
    where: "SQL statement SELECT secret",
    internalQuery: "SELECT secret",
    schema: "public",
    table: "readings",
    column: "id",
    constraint: "readings_pkey",
    dataType: "int4",
  });
  const error = toPostgresError(failure, "readings", false);
  expect(error.message).toBe(
    "readings: the server refused the write: SQLSTATE 23505 (integrity constraint violation), ERROR, " +
      'table "public.readings", column "id", constraint "readings_pkey", type "int4"',
  );
  expect(error.cause).toBe(failure.error);
  expect(JSON.stringify({ ...error })).not.toMatch(/4711|secret|duplicate/);
});

test.each([
  ["42P10", /write a statement/],
  ["42P08", /declare the type/],
  ["42P18", /declare the type/],
  ["42P05", /prepared_statements: false/],
  ["26000", /prepared_statements: false/],
])("WO-PG-12 WO-PGS-19 %s carries a hint", (code, hint) => {
  expect(toPostgresError(failed(code), "readings", false).message).toMatch(hint);
});

test.each([
  ["28P01", "CredentialsError"],
  ["28000", "CredentialsError"],
  ["42501", "CredentialsError"],
  ["3D000", "ConfigurationError"],
  ["53300", "DestinationUnavailableError"],
  ["57P03", "DestinationUnavailableError"],
  ["08P01", "DestinationUnavailableError"],
  ["57P01", "DestinationUnavailableError"],
  ["ECONNREFUSED", "DestinationUnavailableError"],
  ["ENOTFOUND", "DestinationUnavailableError"],
  ["EAI_AGAIN", "DestinationUnavailableError"],
  ["ETIMEDOUT", "DestinationUnavailableError"],
  ["ECONNRESET", "DestinationUnavailableError"],
  ["ERR_TLS_CERT_ALTNAME_INVALID", "CredentialsError"],
  ["SELF_SIGNED_CERT_IN_CHAIN", "CredentialsError"],
  ["CERT_HAS_EXPIRED", "CredentialsError"],
] as const)("WO-ERR-01 %s while connecting: %s, and nothing was sent", (code, kind) => {
  const error = toConnectError(Object.assign(new Error("for user admin at db.internal"), { code, severity: "FATAL" }));
  expect(isErrorKind(error, kind)).toBe(true);
  expect(error.destinationCode).toBe(code);
  expect(error.message).not.toMatch(/admin|internal/);
});

test("WO-ERR-01 while connecting, what has no code is unavailable, but for an exchange of passwords that fails", () => {
  expect(toConnectError(new Error("Connection terminated unexpectedly")).name).toBe("DestinationUnavailableError");
  expect(toConnectError(new Error("SASL: SCRAM-SERVER-FINAL-MESSAGE: server signature does not match")).name).toBe("CredentialsError");
});
