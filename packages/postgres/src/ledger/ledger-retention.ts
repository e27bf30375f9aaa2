import { isSinksError, type Telemetry } from "@sinks/core";
import type { Sessions } from "../connection/session.js";
import type { Query } from "../render/built-write.js";
import type { Ledger } from "./ledger.js";

const rowsPerStep = 10_000;
/** Rest between two steps while there is more to remove: writers get the connection in between. */
const restMs = 100;
const intervalMs = 60_000;

/** What the removal of old records works with. */
export interface RetentionParts {
  readonly sessions: Sessions;
  readonly ledger: Ledger;
  readonly retentionSeconds: number;
  /** Longest time that a step may take, the wait for its connection included: writers wait for the same connections. */
  readonly limitMs: number;
  readonly telemetry: Telemetry;
  /** Runs something once after some time; the returned function gives that up. */
  readonly after: (milliseconds: number, run: () => void) => () => void;
}

/**
 * Removes records that are older than the retention, in bounded steps off the write path (FW-LED-06). States: created,
 * running between `start` and `stop`, stopped. A step that fails is tried again at the next interval.
 */
export class LedgerRetention {
  readonly #parts: RetentionParts;
  readonly #stopping = new AbortController();
  #cancel: () => void = () => undefined;
  #step: Promise<void> = Promise.resolve();

  constructor(parts: RetentionParts) {
    this.#parts = parts;
  }

  start(): void {
    this.#plan(restMs);
  }

  /** Gives up the running step and waits until its connection is free. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#cancel();
    await this.#step;
  }

  #plan(milliseconds: number): void {
    if (this.#stopping.signal.aborted) return;
    this.#cancel = this.#parts.after(milliseconds, () => {
      this.#step = this.#remove().then((removed) => this.#plan(removed < rowsPerStep ? intervalMs : restMs));
    });
  }

  async #remove(): Promise<number> {
    const { sessions, ledger, retentionSeconds, limitMs, telemetry, after } = this.#parts;
    const limit = new AbortController();
    const cancel = after(limitMs, () => limit.abort(new Error("the removal of old records took too long")));
    try {
      const signal = AbortSignal.any([this.#stopping.signal, limit.signal]);
      const { done, failure } = await sessions.use(signal, (session) => session.pipeline([removal(ledger, retentionSeconds)]));
      if (failure !== null) this.#warn(limit.signal.aborted ? "deadline" : failure.code);
      const removed = done[0]?.count ?? 0;
      telemetry.count("ledger_records_removed_total", removed);
      return removed;
    } catch (error) {
      this.#warn(isSinksError(error) ? error.code : "unexpected");
      return 0;
    } finally {
      cancel();
    }
  }

  #warn(code: string | null): void {
    if (!this.#stopping.signal.aborted) this.#parts.telemetry.log("warn", "old records of the ledger could not be removed", { code });
  }
}

/** A record that another runner removes meanwhile is gone for both. */
function removal({ pipeline, table }: Ledger, retentionSeconds: number): Query {
  const old = `SELECT ctid FROM ${table} WHERE pipeline = $1 AND applied_at < now() - make_interval(secs => $2::float8)`;
  return {
    text: `DELETE FROM ${table} WHERE ctid = ANY (ARRAY(${old} ORDER BY applied_at LIMIT ${rowsPerStep}))`,
    values: [pipeline, String(retentionSeconds)],
    prepare: true,
  };
}
