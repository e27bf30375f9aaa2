import { JetStreamApiError } from "@nats-io/jetstream";
import { errors } from "@nats-io/transport-node";

/**
 * What an error of the NATS client means to us. `transient` covers what passes by itself: time-outs, no responders and
 * "JetStream is not enabled", which is how a missing leader looks (FW-RUN-06).
 */
export type ApiFault =
  | "stream_missing"
  | "consumer_missing"
  | "consumer_exists"
  | "message_missing"
  | "credentials"
  | "permission"
  | "refused"
  | "transient";

const byCode: ReadonlyMap<number, ApiFault> = new Map([
  [10059, "stream_missing"],
  [10014, "consumer_missing"],
  [10013, "consumer_exists"],
  [10148, "consumer_exists"],
  [10037, "message_missing"],
  [10039, "transient"],
  [10076, "transient"],
  [10008, "transient"],
  [10009, "transient"],
]);

/** Classifies an error of the client or of the JetStream API. */
export function apiFault(error: unknown): ApiFault {
  if (error instanceof JetStreamApiError) {
    const known = byCode.get(error.code);
    if (known !== undefined) return known;
    return error.status >= 500 ? "transient" : "refused";
  }
  if (error instanceof errors.AuthorizationError || error instanceof errors.UserAuthenticationExpiredError) return "credentials";
  if (error instanceof errors.PermissionViolationError) return "permission";
  const cause = error instanceof Error ? error.cause : undefined;
  if (cause !== undefined && cause !== error) return apiFault(cause);
  return "transient";
}

/** The facts of an API error that may be shown: class and code, never the server's text of another's making. */
export function describeApiFault(error: unknown): string {
  if (error instanceof JetStreamApiError) return `JetStream error ${error.code}: ${error.message}`;
  return error instanceof Error ? error.name : typeof error;
}
