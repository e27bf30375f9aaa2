import type { RunningServer } from "./running-server.js";

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

/** A nats-server with JetStream. */
export interface NatsServer extends RunningServer {
  /** Starts it again on the same data and port, stopping it first when it runs. */
  restart(changes?: NatsRestart): Promise<void>;
  /** Makes the running server read another configuration (SIGHUP): logins and permissions change, connections need not. */
  reload(config: string): Promise<void>;
}
