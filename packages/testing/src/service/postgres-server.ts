import type { RunningServer } from "./running-server.js";
import type { CertificateFiles } from "./server-certificate.js";

/** What a test wants of its server. */
export interface PostgresOptions {
  /**
   * True for a test that stops, kills or freezes the server: one named by TEST_POSTGRES_URL is then not taken. Every other
   * option but `environment` implies it.
   */
  readonly ownServer?: boolean;
  /** True to flush every commit to the disk; by default a commit outlives a kill of the server, not of the machine. */
  readonly durable?: boolean;
  /** More server settings by name. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Password of the role `sinks` in `url`, asked for by SCRAM; without it nobody is asked for one. */
  readonly password?: string;
  /** True for TLS beside plain connections; `names` are what the certificate is for, `localhost` and `127.0.0.1` by default. */
  readonly tls?: boolean | { readonly names: readonly string[] };
  /** Lines of `pg_hba.conf` in place of the one that lets everybody in from this machine. The role `postgres` always gets in. */
  readonly accessRules?: readonly string[];
  /** Environment for the look-up; `process.env` by default. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
}

/** What may change when a server is started again. */
export interface PostgresRestart {
  /** Replaces the `settings` given at start. */
  readonly settings?: Readonly<Record<string, string>>;
}

/** A PostgreSQL server. `url` is of the database `postgres`, with the role that the options ask for. */
export interface PostgresServer extends RunningServer {
  /** The same database with the role `postgres`, which may do everything; with a shared server, `url`. */
  readonly superuserUrl: string;
  /** Where the certificates are, when the options ask for TLS. */
  readonly certificates: CertificateFiles | null;
  /** The address of another database of this server. */
  database(name: string): string;
  /** Makes an empty database with a name of its own; resolves with its address. Dispose removes it. */
  createDatabase(): Promise<string>;
  /** Starts it again on the same data and port, stopping it first when it runs. */
  restart(changes?: PostgresRestart): Promise<void>;
}
