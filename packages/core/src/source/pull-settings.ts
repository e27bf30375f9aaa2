import type { Configuration } from "../config/schema.js";
import { apiPrefix } from "./connection.js";
import { type Link, pullExpiry } from "./link.js";
import type { PullSettings } from "./pull.js";

/** What every pull of a consumer asks for, over a connection. */
export function pullSettings(configuration: Configuration, link: Link): PullSettings {
  const { nats } = configuration;
  const expiresMs = pullExpiry(configuration);
  return {
    requestSubject: `${apiPrefix(nats)}.CONSUMER.MSG.NEXT.${nats.stream}.${nats.consumer}`,
    inbox: `${link.inbox}.p`,
    expiresMs,
    heartbeatMs: expiresMs / 2,
    group: link.group,
  };
}
