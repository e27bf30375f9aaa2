/** What a test wants of its server. */
export interface NatsOptions {
  /** True for a test that stops, kills or freezes the server: one named by TEST_NATS_URL is then not taken. */
  readonly ownServer?: boolean;
  /** More lines for the server's configuration file (authorization, limits, TLS); implies `ownServer`. */
  readonly config?: string;
  /** Environment for the look-up; `process.env` by default. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
}

/** What may change when a server is started again. */
export interface NatsRestart {
  /** Replaces the `config` given at start. */
  readonly config?: string;
}

/**
 * A nats-server with JetStream on 127.0.0.1. URL, port and data stay the same over `kill` and `restart`. One that was
 * named by TEST_NATS_URL is shared and cannot be stopped: `own` is false and the verbs reject.
 */
export interface NatsServer extends AsyncDisposable {
  readonly url: string;
  readonly port: number;
  readonly version: string;
  /** Where it came from, for a line of output. */
  readonly origin: string;
  readonly own: boolean;
  /** Process id of an own server process, null for others and while it is down. */
  readonly pid: number | null;
  /** Everything the server has logged so far. */
  log(): Promise<string>;
  /** Ends it in order. */
  stop(): Promise<void>;
  /** Ends it at once (SIGKILL). */
  kill(): Promise<void>;
  /** Starts it again on the same data and port, stopping it first when it runs. */
  restart(changes?: NatsRestart): Promise<void>;
  /** Makes the running server read another configuration (SIGHUP): logins and permissions change, connections need not. */
  reload(config: string): Promise<void>;
  /** Stops it from running without ending it (SIGSTOP): connections stay open and nothing answers. */
  freeze(): Promise<void>;
  /** Lets a frozen one run again. */
  thaw(): Promise<void>;
}
