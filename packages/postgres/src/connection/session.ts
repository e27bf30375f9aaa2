import type { Query } from "../render/built-write.js";

/** What the server answered to one query that it completed. */
export interface QueryResult {
  /** Command tag without its counts: `INSERT`, `COMMIT`, `ROLLBACK`. */
  readonly command: string;
  /** Rows that the command touched; null for a command that does not say, as CALL. */
  readonly count: number | null;
  /** Rows that came back, each value as the server's text. */
  readonly rows: readonly (readonly (string | null)[])[];
}

/** How a pipeline ended: what completed in order, then the failure that ended it, when one did. */
export interface PipelineResult {
  readonly done: readonly QueryResult[];
  /** The failure of the query at `done.length`: the server's error, or the loss of the connection. */
  readonly failure: SessionFailure | null;
}

/** Why a pipeline ended early. */
export interface SessionFailure {
  /**
   * `server`: a definite error with a SQLSTATE, the connection lives on. `lost`: the connection ended, or was ended at a
   * deadline; `code` is then that of the server's last word, where it had one.
   */
  readonly kind: "server" | "lost";
  /** SQLSTATE or system error code; null when there is none. */
  readonly code: string | null;
  /** Queries of which any byte was handed to the socket; those after were certainly not sent (WO-ERR-02). */
  readonly sent: number;
  /** The driver's error; its text never leaves the process unless the operator asked for it (WO-OB-03). */
  readonly error: unknown;
}

/** One connection in use by one batch. */
export interface Session {
  /**
   * Sends the queries as one pipeline with one Sync (WO-PG-24). The server skips what follows a failed query. Never throws
   * for what the server or the network did.
   */
  pipeline(queries: readonly Query[]): Promise<PipelineResult>;
}

/** The fixed set of connections (WO-OPT-01 `connections`). */
export interface Sessions {
  /**
   * Lends a connection; rejects with a `DestinationUnavailableError`, `CredentialsError` or `ConfigurationError` when none
   * can be had in time, with a `NotAttemptedError` when the signal is aborted first: nothing was sent. Aborted later, it ends
   * the session's query: cancelled on the server, connection destroyed (WO-PG-34). The connection must be given back outside
   * of a transaction; one that is not is destroyed.
   */
  use<Result>(signal: AbortSignal, work: (session: Session) => Promise<Result>): Promise<Result>;
}
