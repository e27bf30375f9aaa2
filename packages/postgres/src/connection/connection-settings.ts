import { ConfigurationError, type Secret } from "@sinks/core";
import type { PostgresOptions } from "../options.js";
import { type Host, parseConnectionUrl, standardPort, type UrlOption } from "./connection-url.js";

/** Where and as whom the sink connects: what the options say, with every default filled in and nothing of the environment. */
export interface ConnectionSettings {
  readonly hosts: readonly Host[];
  readonly database: string;
  readonly user: string;
  readonly password: Secret | null;
  readonly needsWrites: boolean;
  readonly tls: PostgresOptions["tls"];
  readonly applicationName: string;
  readonly connectTimeoutMs: number;
  readonly keepaliveIdleMs: number;
  readonly channelBinding: boolean;
  readonly directTls: boolean;
  /** Parameters of the session, set as it starts. Poolers of transactions know none of them (WO-PG-34). */
  readonly statementTimeoutMs: number | null;
  readonly lockTimeoutMs: number | null;
  readonly sessionOptions: string | null;
  /** False behind a pooler of transactions: nothing may be left behind on a connection. */
  readonly ownsSession: boolean;
}

/** Reads the connection out of the options; throws a `ConfigurationError` for a URL that cannot be used. */
export function connectionSettings(options: PostgresOptions): ConnectionSettings {
  const url = options.url === null ? null : parseConnectionUrl(options.url);
  const user = url?.user ?? options.user;
  if (user === null) throw new ConfigurationError("sink.user: needed, the role that logs in (or give it in sink.url)");
  const option = (name: UrlOption) => url?.options.get(name) ?? null;
  const directTls = option("sslnegotiation") === "direct";
  if (directTls && (options.tls.mode === "disable" || options.tls.mode === "prefer")) {
    throw new ConfigurationError("sink.tls.mode: sslnegotiation=direct in sink.url needs require or stricter");
  }
  const ownsSession = options.prepared_statements;
  return {
    hosts: url?.hosts ?? hostList(options),
    database: url?.database ?? options.database ?? user,
    user,
    password: url === null ? options.password : url.password,
    needsWrites: options.target_session === "read_write",
    tls: options.tls,
    applicationName: options.application_name,
    connectTimeoutMs: options.connect_timeout_ms,
    keepaliveIdleMs: Number(option("keepalives_idle") ?? 60) * 1000,
    channelBinding: option("channel_binding") !== "disable",
    directTls,
    statementTimeoutMs: ownsSession ? options.statement_timeout_ms : null,
    lockTimeoutMs: ownsSession ? options.lock_timeout_ms : null,
    sessionOptions: option("options"),
    ownsSession,
  };
}

function hostList({ host, port }: PostgresOptions): readonly Host[] {
  return (host === null || typeof host === "string" ? [host ?? "localhost"] : host).map((name) => ({
    host: name,
    port: port ?? standardPort,
  }));
}
