import type { QueryResult, Session, SessionFailure } from "../connection/session.js";
import type { Query } from "../render/built-write.js";

/** What became of some queries that were sent together. */
export interface Reply {
  /** What completed, in order. */
  readonly done: readonly QueryResult[];
  /** The failure after `done`, when there was one; with all of `done` there it came when the server ended the pipeline. */
  readonly failure: SessionFailure | null;
  /** True unless the last query was certainly not sent (WO-ERR-02). */
  readonly ended: boolean;
}

/**
 * A session and what is still to be said on it. Commands whose reply decides nothing (a rollback, a released savepoint) are
 * owed: they travel in front of the next pipeline and cost no round trip of their own.
 */
export class Conversation {
  readonly #session: Session;
  #owed: readonly Query[] = [];
  #lost = false;

  constructor(session: Session) {
    this.#session = session;
  }

  owe(...queries: readonly Query[]): void {
    this.#owed = [...this.#owed, ...queries];
  }

  /** Sends what is owed and then the queries, as one pipeline; a failure of what is owed counts as one before the first query. */
  async send(queries: readonly Query[]): Promise<Reply> {
    const owed = this.#owed;
    this.#owed = [];
    const { done, failure } = await this.#session.pipeline(owed.length === 0 ? queries : [...owed, ...queries]);
    if (failure?.kind === "lost") this.#lost = true;
    const ended = failure === null || failure.sent === owed.length + queries.length;
    return { done: owed.length === 0 ? done : done.slice(owed.length), failure, ended };
  }

  /** Sends what is owed now, so that the connection is outside of a transaction when it waits or is given back. */
  async end(): Promise<void> {
    if (this.#owed.length > 0 && !this.#lost) await this.send([]);
  }
}
