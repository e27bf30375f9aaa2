import type { FlightEntry } from "./flight.js";

/** One write under way. */
export interface ActiveWrite {
  readonly entries: readonly FlightEntry[];
  readonly startedAt: number;
  readonly abort: AbortController;
  abortedAt: number | null;
  /** Its messages were left to redelivery; whatever it answers is not settled. */
  abandoned: boolean;
}

/**
 * The writes under way and their deadlines (FW-RUN-16, FW-RUN-29): one that is older than the longest lease is aborted
 * by its signal; one that does not end `abortGraceMs` later keeps its slot, and its messages are left to redelivery.
 */
export class ActiveWrites {
  readonly #writes = new Set<ActiveWrite>();
  readonly #maxMs: number;
  readonly #graceMs: number;

  constructor(maxMs: number, graceMs: number) {
    this.#maxMs = maxMs;
    this.#graceMs = graceMs;
  }

  get count(): number {
    return this.#writes.size;
  }

  get stuck(): number {
    let stuck = 0;
    for (const write of this.#writes) if (write.abandoned) stuck += 1;
    return stuck;
  }

  begin(entries: readonly FlightEntry[], now: number): ActiveWrite {
    const write: ActiveWrite = { entries, startedAt: now, abort: new AbortController(), abortedAt: null, abandoned: false };
    this.#writes.add(write);
    return write;
  }

  end(write: ActiveWrite): void {
    this.#writes.delete(write);
  }

  /** Aborts every write, for the end of a shutdown. */
  abortAll(now: number): void {
    for (const write of this.#writes) this.#abort(write, now);
  }

  /** Aborts what is too old, and returns the writes that did not end after their abort. */
  tick(now: number): readonly ActiveWrite[] {
    const abandoned: ActiveWrite[] = [];
    for (const write of this.#writes) {
      if (write.abortedAt === null) {
        if (now - write.startedAt >= this.#maxMs) this.#abort(write, now);
      } else if (!write.abandoned && now - write.abortedAt >= this.#graceMs) {
        write.abandoned = true;
        abandoned.push(write);
      }
    }
    return abandoned;
  }

  #abort(write: ActiveWrite, now: number): void {
    if (write.abortedAt !== null) return;
    write.abortedAt = now;
    write.abort.abort();
  }
}
