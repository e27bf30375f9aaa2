import { ConfigurationError, type Secret } from "@sinks/core";
import { type Host, parseConnectionUrl, type UrlOption } from "./connection-url.js";
import type { PostgresOptions } from "./options.js";

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

/** Reads the connection out of the options, or throws a `ConfigurationError` that names the key. */
export function connectionSettings(options: PostgresOptions): ConnectionSettings {
  const url = options.url === null ? null : parseConnectionUrl(options.url);
  if (url !== null) refuseBoth(options);
  const user = url?.user ?? options.user;
  if (user === null) throw new ConfigurationError("sink.user: needed, the role that logs in (or give it in sink.url)");
  const option = (name: UrlOption) => url?.options.get(name) ?? null;
  checkTls(options.tls, option("sslnegotiation") === "direct");
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
    directTls: option("sslnegotiation") === "direct",
    statementTimeoutMs: ownsSession ? options.statement_timeout_ms : null,
    lockTimeoutMs: ownsSession ? options.lock_timeout_ms : null,
    sessionOptions: option("options"),
    ownsSession,
  };
}

function refuseBoth({ host, database, user, password }: PostgresOptions): void {
  const both = Object.entries({ host, database, user, password }).flatMap(([name, value]) => (value === null ? [] : [`sink.${name}`]));
  if (both.length > 0) throw new ConfigurationError(`sink.url: excludes ${both.join(", ")}; use one of the two`);
}

function hostList({ host, port }: PostgresOptions): readonly Host[] {
  if (host === null) throw new ConfigurationError("sink.host: needed, or sink.url in its place");
  return (typeof host === "string" ? [host] : host).map((name) => ({ host: name, port }));
}

function checkTls({ mode, ca_file, cert_file, key_file, server_name }: PostgresOptions["tls"], direct: boolean): void {
  const fault = (key: string, what: string) => new ConfigurationError(`sink.tls.${key}: ${what}`);
  if ((cert_file === null) !== (key_file === null)) throw fault("cert_file", "goes with sink.tls.key_file; give both or none");
  // Any certificate that a public authority signed would do, whoever shows it.
  if (mode === "verify_ca" && ca_file === null) throw fault("ca_file", "needed with mode verify_ca");
  if (mode !== "verify_full" && server_name !== null) throw fault("server_name", "is looked at only with mode verify_full");
  if (direct && (mode === "disable" || mode === "prefer"))
    throw fault("mode", "sslnegotiation=direct in sink.url needs require or stricter");
}
