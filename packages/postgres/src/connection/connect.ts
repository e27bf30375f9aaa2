import { ConfigurationError, DestinationUnavailableError, isErrorKind, NotAttemptedError } from "@sinks/core";
import type { Client } from "pg";
import { toConnectError } from "../errors.js";
import { type CancelKey, cancelQuery } from "./cancel.js";
import { type ConnectedTo, SettledClient } from "./connect-attempt.js";
import { PostgresConnection } from "./connection.js";
import type { ConnectionSettings } from "./connection-settings.js";
import { refusesTls, type TlsFiles, tlsAttempts } from "./tls.js";

/** A new connection, and the server that it goes to. */
export interface Opened {
  readonly connection: PostgresConnection;
  readonly to: ConnectedTo;
}

/** What a connection is made with. */
export interface ConnectParts {
  readonly settings: ConnectionSettings;
  readonly files: TlsFiles;
  /** Plans to keep; null for none. */
  readonly maxPrepared: number | null;
  /** Told of each request to cancel, so that it can be waited for. */
  readonly cancelling: (request: Promise<void>) => void;
}

/**
 * Connects to the first server of the list that takes us. A refused login ends the search, as it would be refused by the next
 * one; whatever else is wrong with a server, the next one is tried. Rejects with the class that the runner decides by.
 */
export async function openConnection(parts: ConnectParts, signal: AbortSignal): Promise<Opened> {
  let failure: unknown;
  for (const host of parts.settings.hosts) {
    try {
      return await openHost(parts, host, signal);
    } catch (error) {
      if (signal.aborted) throw new NotAttemptedError("connecting to PostgreSQL was given up", { cause: error });
      failure = toConnectError(error);
      if (!isErrorKind(failure, "DestinationUnavailableError")) throw failure;
    }
  }
  throw failure;
}

async function openHost(parts: ConnectParts, host: ConnectionSettings["hosts"][number], signal: AbortSignal): Promise<Opened> {
  const { settings, files } = parts;
  const ways = tlsAttempts(settings.tls, files).map((tls) => ({ ...host, tls, directTls: settings.directTls }));
  for (const [index, to] of ways.entries()) {
    try {
      const client = await logIn(new SettledClient(settings, to), signal);
      const connection = new PostgresConnection(client, parts.maxPrepared, () => {
        parts.cancelling(cancelQuery(to, client as unknown as CancelKey, settings.connectTimeoutMs));
      });
      await examineWithin(connection, settings, signal);
      return { connection, to };
    } catch (error) {
      if (index === ways.length - 1 || !refusesTls(error)) throw error;
    }
  }
  throw new DestinationUnavailableError("PostgreSQL: there is no way to connect");
}

async function logIn(client: Client, signal: AbortSignal): Promise<Client> {
  const close = () => void client.connection.stream.destroy();
  signal.throwIfAborted();
  signal.addEventListener("abort", close, { once: true });
  // The driver tells of some failures twice.
  client.on("error", () => undefined);
  try {
    await client.connect();
    signal.throwIfAborted();
    return client;
  } catch (error) {
    close();
    throw error;
  } finally {
    signal.removeEventListener("abort", close);
  }
}

/** A server that takes the login and then says nothing is not reached either. */
async function examineWithin(connection: PostgresConnection, settings: ConnectionSettings, signal: AbortSignal): Promise<void> {
  const destroy = () => connection.destroy();
  const timer = setTimeout(destroy, settings.connectTimeoutMs);
  signal.addEventListener("abort", destroy, { once: true });
  try {
    signal.throwIfAborted();
    await examine(connection, settings);
  } catch (error) {
    destroy();
    throw error;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", destroy);
  }
}

const examination = {
  text: "SELECT current_setting('standard_conforming_strings'), current_setting('transaction_read_only')",
  values: [],
  prepare: false,
};

/** Looks at the new session: can it take writes, and does a backslash in a literal stand for itself (WO-PG-35)? */
async function examine(connection: PostgresConnection, { needsWrites, ownsSession }: ConnectionSettings): Promise<void> {
  const { done, failure } = await connection.pipeline([examination]);
  if (failure !== null) throw toConnectError(failure.error);
  const [literals, readOnly] = done[0]?.rows[0] ?? [];
  if (needsWrites && readOnly === "on") {
    throw new DestinationUnavailableError("PostgreSQL takes no writes: this server is a standby, or its transactions are read only", {
      destinationCode: "25006",
    });
  }
  if (literals === "on") return;
  const set = ownsSession
    ? await connection.pipeline([{ text: "SET standard_conforming_strings = on", values: [], prepare: false }])
    : null;
  if (set === null || set.failure !== null) {
    throw new ConfigurationError("PostgreSQL: standard_conforming_strings must be on; set it for the role (ALTER ROLE … SET)", {
      cause: set?.failure?.error,
    });
  }
}
