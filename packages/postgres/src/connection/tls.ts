import { readFile } from "node:fs/promises";
import path from "node:path";
import { type ConnectionOptions, checkServerIdentity } from "node:tls";
import { ConfigurationError } from "@sinks/core";
import type { PostgresOptions } from "../options.js";

type TlsSettings = PostgresOptions["tls"];

/** What the files of the TLS settings hold. */
export interface TlsFiles {
  readonly ca: Buffer | null;
  readonly cert: Buffer | null;
  readonly key: Buffer | null;
}

/** Reads the files; relative paths are taken from `directory`. One that cannot be read is a `ConfigurationError`. */
export async function readTlsFiles({ ca_file, cert_file, key_file }: TlsSettings, directory: string): Promise<TlsFiles> {
  const read = async (key: string, file: string | null) => {
    if (file === null) return null;
    try {
      return await readFile(path.resolve(directory, file));
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      throw new ConfigurationError(`sink.tls.${key}: the file cannot be read (${code ?? "unknown error"})`, { cause: error });
    }
  };
  return { ca: await read("ca_file", ca_file), cert: await read("cert_file", cert_file), key: await read("key_file", key_file) };
}

/** One way to make a connection: TLS with these options, or none. */
export type TlsAttempt = ConnectionOptions | false;

/**
 * The ways to try in turn, as libpq means its modes: `prefer` goes on without TLS where the server has none, `require` asks
 * for encryption alone unless `ca_file` is given, `verify_ca` looks at who signed, `verify_full` at the name too.
 */
export function tlsAttempts(settings: TlsSettings, { ca, cert, key }: TlsFiles): readonly TlsAttempt[] {
  const { mode, server_name: name } = settings;
  if (mode === "disable") return [false];
  const files: ConnectionOptions = { ...(ca === null ? {} : { ca }), ...(cert === null || key === null ? {} : { cert, key }) };
  if (mode === "verify_full") {
    const named: ConnectionOptions = name === null ? {} : { checkServerIdentity: (_host, shown) => checkServerIdentity(name, shown) };
    return [{ ...files, ...named, rejectUnauthorized: true }];
  }
  if (mode === "verify_ca" || (mode === "require" && ca !== null)) {
    return [{ ...files, rejectUnauthorized: true, checkServerIdentity: () => undefined }];
  }
  const encrypted: ConnectionOptions = { ...files, rejectUnauthorized: false };
  return mode === "prefer" ? [encrypted, false] : [encrypted];
}

/** True when a failure says that this server takes no TLS, or not from us, so that `prefer` goes on without. */
export function refusesTls(error: unknown): boolean {
  const { code, message } = error as { code?: unknown; message?: unknown };
  if (typeof code === "string") return code === "28000" || code === "EPROTO" || code.startsWith("ERR_SSL_");
  return message === "The server does not support SSL connections" || message === "There was an error establishing an SSL connection";
}
