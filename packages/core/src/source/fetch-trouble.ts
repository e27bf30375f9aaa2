/** Facts of a source that has a connection and yet may not be fetching; times in ms. */
export interface FetchFacts {
  /** The server has answered a pull of this connection. */
  readonly live: boolean;
  /** Time for which no pull was answered although one asks. */
  readonly silentMs: number;
  /** Time for which stream and consumer could not be read although they must be, before anything is settled. */
  readonly doubtMs: number;
  /** Time between two heartbeats that the server owes to an open pull. */
  readonly heartbeatMs: number;
  /** The limit of the consumer that refuses pulls; null while none does. */
  readonly refusal: string | null;
}

/** A pull that was refused is repeated about once a second: a refusal older than this is over. */
const refusalMs = 2500;

/** Remembers what keeps a connected source from fetching, for health (FW-RUN-06). */
export class FetchTrouble {
  readonly #heartbeatMs: number;
  #doubtedSince: number | null = null;
  #refusal: { readonly limit: string; readonly at: number } | null = null;

  constructor(heartbeatMs: number) {
    this.#heartbeatMs = heartbeatMs;
  }

  /** Called now and then: whether stream and consumer are known to be what they were. */
  tick(now: number, trusted: boolean): void {
    this.#doubtedSince = trusted ? null : (this.#doubtedSince ?? now);
  }

  /** A pull was refused by a limit of the consumer. */
  refused(limit: string, now: number): void {
    this.#refusal = { limit, at: now };
  }

  /** The facts of this moment; `puller` is null before the first pull. */
  facts(now: number, puller: { readonly everHeard: boolean; silence(now: number): number } | null): FetchFacts {
    return {
      live: puller?.everHeard ?? false,
      silentMs: puller?.silence(now) ?? 0,
      doubtMs: this.#doubtedSince === null ? 0 : now - this.#doubtedSince,
      heartbeatMs: this.#heartbeatMs,
      refusal: this.#refusal !== null && now - this.#refusal.at < refusalMs ? this.#refusal.limit : null,
    };
  }
}
