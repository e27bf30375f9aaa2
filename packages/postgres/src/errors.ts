import {
  ConfigurationError,
  CredentialsError,
  DestinationUnavailableError,
  type ErrorOptions,
  isErrorKind,
  isSinkError,
  PermanentSinkError,
  type SinkError,
  TemporarySinkError,
  UnknownOutcomeError,
} from "@sinks/core";
import type { SessionFailure } from "./connection/session.js";
import { type DriverError, driverError, facts } from "./driver-error.js";

/**
 * What a code says about the work that raised it. All but `lost` are definite: rolled back.
 * `permanent`: never. `halve`: permanent for a single row (WO-PG-23). `parent_missing`: a foreign key, may come (WO-ERR-06).
 * `temporary`: again, within the budget. `stale_plan`: again at once, without the plan (WO-PG-33). `unavailable`: not now,
 * whatever is sent. `schema`: the text or the tables are at fault (WO-ERR-05). `right`: a right on one object is missing
 * (WO-ERR-06). `credentials`, `configuration`: the login, the database. `lost`: the connection ended.
 */
export type Verdict =
  | "permanent"
  | "halve"
  | "parent_missing"
  | "temporary"
  | "stale_plan"
  | "unavailable"
  | "schema"
  | "right"
  | "credentials"
  | "configuration"
  | "lost";

/** WO-ERR section 12: SQLSTATEs and system codes, then classes of SQLSTATEs; a code beats its class (WO-ERR-04). */
const verdicts: ReadonlyMap<string, Verdict> = new Map<string, Verdict>([
  ["21000", "halve"],
  ["22", "permanent"],
  ["23", "permanent"],
  ["23503", "parent_missing"],
  ["44000", "permanent"],
  ["P0001", "permanent"],
  ["54", "permanent"],
  ["0A000", "permanent"],
  ["42", "schema"],
  ["55000", "schema"],
  ["3F000", "schema"],
  ["42501", "right"],
  ["26000", "stale_plan"],
  ["40001", "temporary"],
  ["40P01", "temporary"],
  ["55P03", "temporary"],
  ["57014", "temporary"],
  ["55006", "temporary"],
  ["53", "unavailable"],
  ["57P03", "unavailable"],
  ["25006", "unavailable"],
  ["08001", "unavailable"],
  ["08004", "unavailable"],
  ["08", "lost"],
  ["40003", "lost"],
  ["57P01", "lost"],
  ["57P02", "lost"],
  ["57P04", "lost"],
  ["57P05", "lost"],
  ["25P03", "lost"],
  ["28", "credentials"],
  ["3D000", "configuration"],
  // The other side is not who it should be, or does not take our certificate.
  ["ERR_TLS_CERT_ALTNAME_INVALID", "credentials"],
  ["DEPTH_ZERO_SELF_SIGNED_CERT", "credentials"],
  ["SELF_SIGNED_CERT_IN_CHAIN", "credentials"],
  ["UNABLE_TO_GET_ISSUER_CERT", "credentials"],
  ["UNABLE_TO_GET_ISSUER_CERT_LOCALLY", "credentials"],
  ["UNABLE_TO_VERIFY_LEAF_SIGNATURE", "credentials"],
  ["CERT_HAS_EXPIRED", "credentials"],
  ["CERT_NOT_YET_VALID", "credentials"],
  ["CERT_SIGNATURE_FAILURE", "credentials"],
  ["ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED", "credentials"],
  ["ERR_SSL_SSLV3_ALERT_CERTIFICATE_EXPIRED", "credentials"],
  ["ERR_SSL_TLSV1_ALERT_UNKNOWN_CA", "credentials"],
  ["ECONNREFUSED", "unavailable"],
  ["ENOTFOUND", "unavailable"],
  ["EAI_AGAIN", "unavailable"],
  ["ECONNRESET", "lost"],
  ["EPIPE", "lost"],
  ["ETIMEDOUT", "lost"],
]);

/** Words of the server's own source, where the code alone says too little; they are the same in every language of its texts. */
const routines: ReadonlyMap<string, Verdict> = new Map<string, Verdict>([
  ["42501 ExecWithCheckOptions", "permanent"],
  ["0A000 RevalidateCachedQuery", "stale_plan"],
]);

/** What a schema lacks is looked up only where somebody asks (WO-ERR-05). */
const schemaHint = "`sinks doctor` checks the tables and says what mends them";

const hints: ReadonlyMap<string, string> = new Map([
  ["42P01", schemaHint],
  ["42703", schemaHint],
  ["42P10", "no unique index has exactly these `conflict` columns; for a partial index or a named constraint write a statement"],
  ["42P08", "declare the type of the parameter, or cast it in the statement"],
  ["42P18", "declare the type of the parameter, or cast it in the statement"],
  ["42P05", "behind a transaction pooler set `prepared_statements: false`"],
  ["26000", "behind a transaction pooler set `prepared_statements: false`"],
  ["08P01", "behind a transaction pooler set `prepared_statements: false`"],
]);

/** The verdict on a code; one that is not listed follows its class, an unknown one is temporary (WO-ERR-01). */
function verdictOn({ code, routine }: DriverError): Verdict {
  if (code === null) return "temporary";
  const sqlstateClass = /^[0-9A-Z]{5}$/.test(code) ? code.slice(0, 2) : "";
  return routines.get(`${code} ${routine}`) ?? verdicts.get(code) ?? verdicts.get(sqlstateClass) ?? "temporary";
}

/** The verdict on a failed query of a pipeline. After FATAL and PANIC the server ends the connection, whatever the code. */
export function verdictOf(failure: SessionFailure): Verdict {
  const error = driverError(failure.error);
  return failure.kind === "lost" || error.severity === "FATAL" || error.severity === "PANIC" ? "lost" : verdictOn(error);
}

/**
 * The outcome of writes whose query failed. `destination` is the table or the statement's name; `mayBeApplied` is true
 * when a COMMIT, or the query without BEGIN, was sent (WO-ERR-02): only a lost connection leaves that open.
 */
export function toPostgresError(failure: SessionFailure, destination: string, mayBeApplied: boolean): SinkError {
  const error = driverError(failure.error);
  const verdict = verdictOf(failure);
  const options: ErrorOptions = { cause: failure.error, ...(failure.code === null ? {} : { destinationCode: failure.code }) };
  if (verdict === "lost") {
    return mayBeApplied
      ? new UnknownOutcomeError(`${destination}: the connection was lost before the server confirmed the write${facts(error)}`, options)
      : new DestinationUnavailableError(`${destination}: the connection was lost, nothing was written${facts(error)}`, options);
  }
  const message = `${destination}: the server refused the write${facts(error)}${hintFor(error.code)}`;
  switch (verdict) {
    case "permanent":
    case "halve":
      return new PermanentSinkError(message, options);
    case "unavailable":
    case "schema":
    case "configuration":
      return new DestinationUnavailableError(message, options);
    case "right":
    case "credentials":
      return new CredentialsError(message, options);
    case "parent_missing":
    case "temporary":
    case "stale_plan":
      return new TemporarySinkError(message, options);
  }
}

/** Why a connection could not be made: nothing was sent. */
export function toConnectError(error: unknown): SinkError | ConfigurationError {
  if (isSinkError(error) || isConfigurationError(error)) return error;
  const fields = driverError(error);
  const options: ErrorOptions = { cause: error, ...(fields.code === null ? {} : { destinationCode: fields.code }) };
  const why = `${facts(fields)}${hintFor(fields.code)}`;
  switch (verdictOn(fields)) {
    case "right":
    case "credentials":
      return new CredentialsError(`PostgreSQL refuses the login${why}`, options);
    case "configuration":
      return new ConfigurationError(`PostgreSQL has no such database${why}`, options);
    default:
      // The driver's own words on the exchange of passwords; they hold none.
      if (error instanceof Error && error.message.startsWith("SASL")) {
        return new CredentialsError(
          "the exchange of passwords with PostgreSQL failed (SCRAM); behind a proxy that ends TLS set channel_binding=disable in sink.url",
          options,
        );
      }
      return new DestinationUnavailableError(`PostgreSQL cannot be reached${why}`, options);
  }
}

function isConfigurationError(error: unknown): error is ConfigurationError {
  return isErrorKind(error, "ConfigurationError");
}

/** What to do about a code, as the end of a sentence; empty where nothing helps but reading the facts. */
function hintFor(code: string | null): string {
  const hint = code === null ? undefined : hints.get(code);
  return hint === undefined ? "" : `; ${hint}`;
}
