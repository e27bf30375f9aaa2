import { ConfigurationError, Secret } from "@sinks/core";

/** Port of a server whose address names none. */
export const standardPort = 5432;

/** One server to try. */
export interface Host {
  readonly host: string;
  readonly port: number;
}

/** What a URL says; null where it says nothing. */
export interface ConnectionUrl {
  readonly hosts: readonly Host[];
  readonly database: string | null;
  readonly user: string | null;
  readonly password: Secret | null;
  readonly options: ReadonlyMap<UrlOption, string>;
}

/** Options that a URL may carry on to the connection; `docs/guides/postgres-sink.md` lists them (WO-OPT-04). */
const allowed = ["channel_binding", "keepalives_idle", "options", "sslnegotiation"] as const;

/** An option of a URL that goes to the driver. */
export type UrlOption = (typeof allowed)[number];

/** Options of libpq that have a key of their own here. */
const covered: ReadonlyMap<string, string> = new Map([
  ["application_name", "application_name"],
  ["connect_timeout", "connect_timeout_ms"],
  ["dbname", "database"],
  ["host", "host"],
  ["lock_timeout", "lock_timeout_ms"],
  ["password", "password"],
  ["port", "port"],
  ["sslcert", "tls.cert_file"],
  ["sslkey", "tls.key_file"],
  ["sslmode", "tls.mode"],
  ["sslrootcert", "tls.ca_file"],
  ["ssl", "tls.mode"],
  ["statement_timeout", "statement_timeout_ms"],
  ["target_session_attrs", "target_session"],
  ["user", "user"],
]);

/**
 * Reads `postgres://user:password@host:port,host:port/database?option=value`. Its errors name keys and never show any part of
 * the URL, which is a secret as a whole (WO-OB-06).
 */
export function parseConnectionUrl(url: Secret): ConnectionUrl {
  const parts = /^postgres(?:ql)?:\/\/(?:([^/?#]*)@)?([^/?#@]*)(?:\/([^?#]*))?(?:\?([^#]*))?$/.exec(url.reveal().trim());
  if (parts === null) throw fault("must look like postgres://user:password@host:5432/database");
  const [, login = "", authority = "", database = "", query = ""] = parts;
  const colon = login.indexOf(":");
  const user = decode(colon < 0 ? login : login.slice(0, colon));
  const password = colon < 0 ? "" : decode(login.slice(colon + 1));
  return {
    hosts: authority.split(",").map(parseHost),
    database: decode(database) || null,
    user: user || null,
    password: password === "" ? null : new Secret(password),
    options: parseOptions(query),
  };
}

function parseHost(text: string): Host {
  const parts = /^(\[[^\]]*\]|[^:]*)(?::(\d{1,5}))?$/.exec(text);
  const port = Number(parts?.[2] ?? standardPort);
  if (parts === null || port < 1 || port > 65_535) throw fault("has a host or port that cannot be read");
  const host = decode(parts[1] ?? "").replace(/^\[(.*)\]$/, "$1");
  return { host: host || "localhost", port };
}

function parseOptions(query: string): ReadonlyMap<UrlOption, string> {
  const options = new Map<UrlOption, string>();
  for (const pair of query.split("&").filter((text) => text !== "")) {
    const equals = pair.indexOf("=");
    const name = decode(equals < 0 ? pair : pair.slice(0, equals));
    const key = covered.get(name);
    if (key !== undefined) throw fault(`carries ${name}; set sink.${key} instead`);
    const option = allowed.find((known) => known === name);
    // An unknown name may be half of a password that was not encoded, so it is not shown.
    if (option === undefined) throw fault(`carries an option that is not one of ${allowed.join(", ")}`);
    if (options.has(option)) throw fault(`carries ${option} twice`);
    options.set(option, checkOption(option, decode(pair.slice(equals + 1))));
  }
  return options;
}

function checkOption(option: UrlOption, value: string): string {
  const rule = {
    channel_binding: /^(disable|prefer)$/,
    keepalives_idle: /^\d{1,6}$/,
    options: /\S/,
    sslnegotiation: /^(postgres|direct)$/,
  };
  if (!rule[option].test(value)) throw fault(`carries a value for ${option} that cannot be used`);
  return value;
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw fault("holds a % that does not begin an encoded byte; write it as %25");
  }
}

function fault(what: string): ConfigurationError {
  return new ConfigurationError(`sink.url: the address ${what}`);
}
