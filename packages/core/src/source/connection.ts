import { readFile } from "node:fs/promises";
import {
  type Authenticator,
  type ConnectionOptions,
  connect,
  credsAuthenticator,
  errors,
  type NatsConnection,
  type NodeConnectionOptions,
  nkeyAuthenticator,
  type TlsOptions,
} from "@nats-io/transport-node";
import type { Configuration } from "../config/schema.js";
import { ConfigurationError, CredentialsError, SinksError } from "../error/errors.js";
import { apiFault, describeApiFault } from "./api-fault.js";
import { rotatingLogin } from "./rotating-login.js";
import { unusableVersion } from "./server-greeting.js";

/** Time in which a server greets. */
const greetingMs = 1000;

type NatsSection = Configuration["nats"];

/**
 * Opens one connection by a configuration whose secrets are resolved. One attempt, bounded by
 * `connect_timeout_seconds`: rejects with `ConfigurationError` for a file that cannot be read, `CredentialsError` for a
 * refused login, `SinksError` code `connection_failed` for a server that does not answer.
 */
export async function openConnection(configuration: Configuration): Promise<NatsConnection> {
  const options = await connectionOptions(configuration.nats);
  try {
    return await connect(options);
  } catch (error) {
    const servers = serverNames(configuration.nats);
    const key = configuration.nats.urls.length > 0 ? "nats.urls" : "nats.url";
    if (apiFault(error) === "credentials") {
      throw new CredentialsError(`${key}: ${servers} refused the login; check the credentials under nats`, { cause: error });
    }
    if (error instanceof errors.TimeoutError) await refuseUnusable(key, configuration.nats);
    throw new SinksError(`${key}: cannot connect to ${servers} (${describeApiFault(error)}); start the server, or correct the address`, {
      code: "connection_failed",
      cause: error,
    });
  }
}

/** Says so when a server is of a version that the client cannot work with: a time-out would name the wrong cause. */
async function refuseUnusable(key: string, section: NatsSection): Promise<void> {
  for (const url of serversOf(section)) {
    const version = await unusableVersion(new URL(url), greetingMs);
    if (version === null) continue;
    throw new ConfigurationError(
      `${key}: ${new URL(url).host} calls its version ${JSON.stringify(version)}, and the NATS client needs one like 2.11.4; name another server`,
      { code: "not_supported" },
    );
  }
}

/** Host and port of the configured servers, for messages. */
function serverNames(section: NatsSection): string {
  return serversOf(section)
    .map((url) => new URL(url).host)
    .join(", ");
}

/** Prefix of the JetStream API subjects. */
export function apiPrefix(section: NatsSection): string {
  if (section.api_prefix !== null) return section.api_prefix;
  return section.domain === null ? "$JS.API" : `$JS.${section.domain}.API`;
}

/** Prefix of the API that holds the dead letters: that of `dead_letter.domain`, or the pipeline's own (FW-DLQ-11). */
export function deadLetterApiPrefix({ nats, dead_letter: deadLetter }: Configuration): string {
  return deadLetter.domain === null ? apiPrefix(nats) : `$JS.${deadLetter.domain}.API`;
}

function serversOf(section: NatsSection): readonly string[] {
  return section.urls.length > 0 ? section.urls : [section.url];
}

async function connectionOptions(section: NatsSection): Promise<NodeConnectionOptions> {
  const options: NodeConnectionOptions = {
    servers: [...serversOf(section)],
    noEcho: section.no_echo,
    inboxPrefix: section.inbox_prefix,
    timeout: section.connect_timeout_seconds * 1000,
    reconnect: section.allow_reconnect,
    maxReconnectAttempts: section.max_reconnect_attempts,
    reconnectTimeWait: section.reconnect_time_wait_seconds * 1000,
    pingInterval: section.ping_interval_seconds * 1000,
    maxPingOut: section.max_outstanding_pings,
    // A login that fails while reconnecting may be a rotation under way: keep trying, health is red meanwhile.
    ignoreAuthErrorAbort: true,
    noAsyncTraces: true,
    ...(section.name === null ? {} : { name: section.name }),
    ...(await authentication(section)),
  };
  const tls = tlsOptions(section);
  if (tls !== null) options.tls = tls;
  return options;
}

async function authentication(section: NatsSection): Promise<Partial<ConnectionOptions>> {
  if (section.token !== null) return { token: section.token.reveal() };
  if (section.user !== null) return { user: section.user, ...(section.password === null ? {} : { pass: section.password.reveal() }) };
  if (section.creds_file !== null) {
    const first = await readBytes("nats.creds_file", section.creds_file);
    return { authenticator: rotatingLogin(section.creds_file, first, credsAuthenticator) };
  }
  if (section.nkey_seed_file !== null) {
    const first = await readBytes("nats.nkey_seed_file", section.nkey_seed_file);
    return { authenticator: rotatingLogin(section.nkey_seed_file, first, seedAuthenticator) };
  }
  return {};
}

function seedAuthenticator(bytes: Uint8Array): Authenticator {
  return nkeyAuthenticator(new TextEncoder().encode(new TextDecoder().decode(bytes).trim()));
}

function tlsOptions(section: NatsSection): TlsOptions | null {
  const secure = serversOf(section).some((url) => url.startsWith("tls:"));
  const configured = section.tls_ca_file !== null || section.tls_cert_file !== null || section.tls_first || !section.tls_verify;
  if (!secure && !configured) return null;
  return {
    ...(section.tls_ca_file === null ? {} : { caFile: section.tls_ca_file }),
    ...(section.tls_cert_file === null ? {} : { certFile: section.tls_cert_file }),
    ...(section.tls_key_file === null ? {} : { keyFile: section.tls_key_file }),
    ...(section.tls_first ? { handshakeFirst: true } : {}),
    ...(section.tls_verify ? {} : { rejectUnauthorized: false }),
  };
}

async function readBytes(key: string, file: string): Promise<Buffer> {
  try {
    return await readFile(file);
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? "unreadable";
    throw new ConfigurationError(`${key}: the file cannot be read (${code}); correct the path or its rights`, { cause: error });
  }
}
