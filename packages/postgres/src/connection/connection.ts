import type { Client } from "pg";
import { verdictOf } from "../errors.js";
import type { Query } from "../render/built-write.js";
import { Pipeline } from "./pipeline.js";
import type { PipelineResult, Session } from "./session.js";
import { StatementCache } from "./statement-cache.js";

const goodbyeMs = 1_000;

/**
 * One connection to the server. States: usable, then broken for good after a lost connection, an abort, or an answer that
 * says that this server takes no writes any more. One pipeline at a time.
 */
export class PostgresConnection implements Session {
  readonly #client: Client;
  readonly #statements: StatementCache | null;
  readonly #cancel: () => void;
  #current: Pipeline | null = null;
  #broken = false;
  #outdated = false;
  /** Called once, when it breaks while nobody uses it. */
  onBroken: () => void = () => undefined;

  /** `client` is logged in. `maxPrepared` is null where plans cannot be kept. `cancel` asks the server to end the running query. */
  constructor(client: Client, maxPrepared: number | null, cancel: () => void) {
    this.#client = client;
    this.#statements = maxPrepared === null ? null : new StatementCache(maxPrepared);
    this.#cancel = cancel;
    client.on("error", (error) => this.#lose(error));
    client.on("end", () => this.#lose(new Error("the connection ended")));
    const { connection } = client;
    connection.on("parseComplete", () => this.#current?.confirm());
    connection.on("closeComplete", () => this.#current?.confirm());
    connection.on("readyForQuery", () => this.#current?.ready());
  }

  /** True while it can be lent: alive, and outside of a transaction. */
  get isUsable(): boolean {
    return !this.#broken && this.#client.connection.stream.writable && this.#client.getTransactionStatus() === "I";
  }

  async pipeline(queries: readonly Query[]): Promise<PipelineResult> {
    if (queries.length === 0) return { done: [], failure: null };
    if (this.#current !== null) throw new Error("a connection carries one pipeline at a time");
    if (this.#outdated) this.#statements?.forget();
    this.#outdated = false;
    const pipeline = new Pipeline(queries, this.#statements);
    this.#current = pipeline;
    if (this.#broken) pipeline.lose(new Error("the connection ended"));
    else this.#client.query(pipeline);
    const result = await pipeline.result;
    this.#current = null;
    if (result.failure !== null) this.#learn(result.failure);
    return result;
  }

  /**
   * Keeps no plan that was made so far: a table may have changed, and a plan keeps the types of its values. They go with the
   * next pipeline, as one that is still being written relies on the names that the server has.
   */
  forgetPlans(): void {
    this.#outdated = true;
  }

  #learn(failure: NonNullable<PipelineResult["failure"]>): void {
    if (failure.kind === "lost") this.#broken = true;
    // The server became a standby: another connection may reach the new primary.
    else if (failure.code === "25006") this.#broken = true;
    else if (verdictOf(failure) === "stale_plan") this.#statements?.forget();
  }

  /** Ends the running query on the server and the connection with it (WO-PG-34). */
  abort(reason: unknown): void {
    if (this.#broken) return;
    if (this.#current !== null) this.#cancel();
    this.#lose(reason);
    this.destroy();
  }

  #lose(error: unknown): void {
    const wasUsable = !this.#broken;
    this.#broken = true;
    this.#current?.lose(error);
    if (wasUsable) this.onBroken();
  }

  /** Closes the socket without a word; the server rolls back what is open. */
  destroy(): void {
    this.#broken = true;
    this.#client.connection.stream.destroy();
  }

  /** Says goodbye, a second at most. */
  async end(): Promise<void> {
    const timer = setTimeout(() => this.destroy(), goodbyeMs);
    this.#broken = true;
    await this.#client.end();
    clearTimeout(timer);
  }
}
