import { errors } from "@nats-io/transport-node";
import type { Configuration } from "../config/schema.js";
import { apiPrefix } from "./connection.js";
import { type Link, pullExpiry } from "./link.js";
import type { PullSettings } from "./pull.js";

function pullSubject({ nats }: Configuration): string {
  return `${apiPrefix(nats)}.CONSUMER.MSG.NEXT.${nats.stream}.${nats.consumer}`;
}

/** True for the server's word that we may not send pulls; the pull itself gets no answer. */
export function isPullForbidden(error: Error, configuration: Configuration): boolean {
  return error instanceof errors.PermissionViolationError && error.operation === "publish" && error.subject === pullSubject(configuration);
}

/** What every pull of a consumer asks for, over a connection. */
export function pullSettings(configuration: Configuration, link: Link): PullSettings {
  const expiresMs = pullExpiry(configuration);
  return {
    requestSubject: pullSubject(configuration),
    inbox: `${link.inbox}.p`,
    expiresMs,
    heartbeatMs: expiresMs / 2,
    group: link.group,
  };
}
