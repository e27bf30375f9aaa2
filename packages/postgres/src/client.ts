import { DestinationUnavailableError, NotAttemptedError } from "@sinks/core";
import type { Pool } from "pg";
import { openConnection } from "./connection/connect.js";
import type { ConnectedTo } from "./connection/connect-attempt.js";
import type { PostgresConnection } from "./connection/connection.js";
import { type ConnectionSettings, connectionSettings } from "./connection/connection-settings.js";
import { endHandlerPool, handlerPool } from "./connection/handler-pool.js";
import type { Session, Sessions } from "./connection/session.js";
import { readTlsFiles, type TlsFiles } from "./connection/tls.js";
import type { PostgresOptions } from "./options.js";

/** What the connections are made with besides the options. */
export interface ClientServices {
  /** Directory against which file names are resolved. */
  readonly workingDirectory: string;
  /** Called after each new connection: what was learned on another one may be outdated. */
  readonly connected: () => void;
}

interface Waiter {
  give(connection: PostgresConnection): void;
  refuse(error: unknown): void;
}

/**
 * The fixed set of connections (WO-OPT-01). States: created, running between `start` and `stop`, stopped. A connection is idle,
 * lent or gone; one that broke is dropped and a new one is made when somebody waits for it, at most `connections` at a time.
 *
 * It is not a `pg.Pool`: a pool can neither go through a list of hosts nor fall back to a connection without TLS, and it would let a handler's
 * query take the place of a batch. Handlers get a pool of their own, which connects when they use it and not before.
 */
export class PostgresClient implements Sessions {
  readonly #settings: ConnectionSettings;
  readonly #size: number;
  readonly #acquireTimeoutMs: number;
  readonly #maxPrepared: number | null;
  readonly #services: ClientServices;
  readonly #all = new Set<PostgresConnection>();
  readonly #cancelling = new Set<Promise<void>>();
  #idle: PostgresConnection[] = [];
  #waiting: Waiter[] = [];
  #opening = 0;
  #files: TlsFiles | null = null;
  #last: ConnectedTo | null = null;
  #pool: Pool | null = null;
  #stopping = new AbortController();

  /** Throws a `ConfigurationError` for options that do not say where to connect; connects to nothing. */
  constructor(options: PostgresOptions, services: ClientServices) {
    this.#settings = connectionSettings(options);
    this.#size = options.connections;
    this.#acquireTimeoutMs = options.acquire_timeout_ms;
    this.#maxPrepared = options.prepared_statements ? options.max_prepared : null;
    this.#services = services;
    this.#stopping.abort();
  }

  /** A pool for handlers that read (WO-GEN-20); null before start and after stop. */
  get pool(): Pool | null {
    return this.#pool;
  }

  /** Opens every connection, or rejects and leaves none. */
  async start(signal: AbortSignal): Promise<void> {
    this.#files = await readTlsFiles(this.#settings.tls, this.#services.workingDirectory);
    this.#stopping = new AbortController();
    try {
      const ways = Array.from({ length: this.#size }, () => this.#open(signal));
      const failed = (await Promise.allSettled(ways)).find((way) => way.status === "rejected");
      if (failed !== undefined) throw failed.reason;
      const first = this.#last;
      if (first === null) return;
      this.#pool = handlerPool(this.#settings, () => this.#last ?? first, { size: this.#size, acquireTimeoutMs: this.#acquireTimeoutMs });
    } catch (error) {
      await this.stop();
      throw error;
    }
  }

  async use<Result>(signal: AbortSignal, work: (session: Session) => Promise<Result>): Promise<Result> {
    const connection = await this.#acquire(signal);
    if (signal.aborted) {
      this.#takeBack(connection);
      throw new NotAttemptedError("the write was given up before it began");
    }
    const abort = () => connection.abort(signal.reason);
    signal.addEventListener("abort", abort, { once: true });
    try {
      return await work(connection);
    } finally {
      signal.removeEventListener("abort", abort);
      this.#takeBack(connection);
    }
  }

  /** Has every connection make its plans anew. */
  forgetPlans(): void {
    for (const connection of this.#all) connection.forgetPlans();
  }

  /** Ends every connection: idle ones with a goodbye, others at once, their queries cancelled. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    for (const waiter of this.#waiting.splice(0)) waiter.refuse(new NotAttemptedError("the PostgreSQL sink is stopping"));
    const pool = this.#pool;
    this.#pool = null;
    const idle = this.#idle.splice(0);
    for (const connection of this.#all) if (!idle.includes(connection)) connection.abort(new Error("the PostgreSQL sink is stopping"));
    this.#all.clear();
    await Promise.all([pool === null ? null : endHandlerPool(pool), ...idle.map((connection) => connection.end()), ...this.#cancelling]);
  }

  #acquire(signal: AbortSignal): Promise<PostgresConnection> {
    return new Promise((resolve, reject) => {
      if (this.#stopping.signal.aborted) return reject(new NotAttemptedError("the PostgreSQL sink is not running"));
      if (signal.aborted) return reject(new NotAttemptedError("the write was given up before it began"));
      const idle = this.#takeIdle();
      if (idle !== null) return resolve(idle);
      const leave = () => {
        clearTimeout(timer);
        signal.removeEventListener("abort", giveUp);
        this.#waiting = this.#waiting.filter((other) => other !== waiter);
      };
      const waiter: Waiter = {
        give: (connection) => {
          leave();
          resolve(connection);
        },
        refuse: (error) => {
          leave();
          reject(error);
        },
      };
      const giveUp = () => waiter.refuse(new NotAttemptedError("the write was given up before it had a connection"));
      const timer = setTimeout(() => {
        waiter.refuse(new DestinationUnavailableError(`PostgreSQL: no connection was free within ${this.#acquireTimeoutMs} ms`));
      }, this.#acquireTimeoutMs);
      signal.addEventListener("abort", giveUp, { once: true });
      this.#waiting.push(waiter);
      this.#openForWaiting();
    });
  }

  #takeIdle(): PostgresConnection | null {
    for (let idle = this.#idle.pop(); idle !== undefined; idle = this.#idle.pop()) {
      if (idle.isUsable) return idle;
      // Its end is on the way.
      idle.destroy();
      this.#all.delete(idle);
    }
    return null;
  }

  /** One attempt for each that waits, as far as there is room; it answers for the one that waits longest. */
  #openForWaiting(): void {
    while (this.#opening < this.#waiting.length && this.#all.size + this.#opening < this.#size) {
      this.#open(this.#stopping.signal).catch((error: unknown) => {
        this.#waiting[0]?.refuse(error);
        this.#openForWaiting();
      });
    }
  }

  async #open(signal: AbortSignal): Promise<void> {
    this.#opening += 1;
    try {
      const files = await this.#currentFiles();
      const parts = {
        settings: this.#settings,
        files,
        maxPrepared: this.#maxPrepared,
        cancelling: (request: Promise<void>) => this.#cancels(request),
      };
      const { connection, to } = await openConnection(parts, AbortSignal.any([signal, this.#stopping.signal]));
      if (this.#stopping.signal.aborted) {
        connection.destroy();
        throw new NotAttemptedError("the PostgreSQL sink is stopping");
      }
      this.#last = to;
      this.#all.add(connection);
      connection.onBroken = () => this.#drop(connection);
      this.#services.connected();
      this.#lend(connection);
    } finally {
      this.#opening -= 1;
    }
  }

  /** A certificate may have been renewed since; while it is being replaced the one known before will do. */
  async #currentFiles(): Promise<TlsFiles> {
    const files = await readTlsFiles(this.#settings.tls, this.#services.workingDirectory).catch(() => this.#files);
    this.#files = files;
    return files ?? { ca: null, cert: null, key: null };
  }

  #cancels(request: Promise<void>): void {
    this.#cancelling.add(request);
    void request.then(() => this.#cancelling.delete(request));
  }

  #takeBack(connection: PostgresConnection): void {
    if (connection.isUsable && this.#all.has(connection)) return this.#lend(connection);
    connection.destroy();
    this.#drop(connection);
  }

  #lend(connection: PostgresConnection): void {
    const waiter = this.#waiting[0];
    if (waiter === undefined) this.#idle.push(connection);
    else waiter.give(connection);
  }

  #drop(connection: PostgresConnection): void {
    this.#all.delete(connection);
    this.#idle = this.#idle.filter((other) => other !== connection);
    this.#openForWaiting();
  }
}
