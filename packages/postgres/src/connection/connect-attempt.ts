import { CredentialsError } from "@sinks/core";
import { Client, type ClientConfig } from "pg";
import type { ConnectionSettings } from "./connection-settings.js";
import type { Host } from "./connection-url.js";
import type { TlsAttempt } from "./tls.js";

/** The server that a connection was made to, and how. */
export interface ConnectedTo extends Host {
  readonly tls: TlsAttempt;
  readonly directTls: boolean;
}

/** What the driver is told for one way to one server. The driver would fill gaps from PG* variables, so there are none. */
export function clientConfig(settings: ConnectionSettings, { host, port, tls, directTls }: ConnectedTo): ClientConfig {
  return {
    host,
    port,
    user: settings.user,
    database: settings.database,
    // A function is asked only when the server wants a password, and keeps the driver from looking for one elsewhere.
    password: () => {
      if (settings.password === null) throw new CredentialsError("PostgreSQL asks for a password, and none is configured");
      return settings.password.reveal();
    },
    ssl: tls,
    sslnegotiation: directTls ? "direct" : "postgres",
    enableChannelBinding: settings.channelBinding,
    keepAlive: true,
    keepAliveInitialDelayMillis: settings.keepaliveIdleMs,
    application_name: settings.applicationName,
    connectionTimeoutMillis: settings.connectTimeoutMs,
    ...(settings.statementTimeoutMs === null ? {} : { statement_timeout: settings.statementTimeoutMs }),
    ...(settings.lockTimeoutMs === null ? {} : { lock_timeout: settings.lockTimeoutMs }),
  };
}

/** The driver's client for `clientConfig`, without the variables that no option of the driver keeps out. */
export class SettledClient extends Client {
  constructor(settings: ConnectionSettings, to: ConnectedTo) {
    super(clientConfig(settings, to));
    const { connectionParameters } = this as unknown as { connectionParameters: Record<string, unknown> };
    connectionParameters["options"] = settings.sessionOptions ?? undefined;
    connectionParameters["replication"] = undefined;
  }
}
