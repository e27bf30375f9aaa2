/** Time after which an unchanged reason is told again. */
const againMs = 5000;

/** Decides when a wait that goes on is told again: at once with a new reason, otherwise every few seconds. */
export class RepeatedWarning {
  #reason: string | null = null;
  #toldAt = 0;

  /** True when the line is due at `now`, in monotonic ms; it then counts as told. */
  isDue(reason: string, now: number): boolean {
    if (reason === this.#reason && now - this.#toldAt < againMs) return false;
    this.#reason = reason;
    this.#toldAt = now;
    return true;
  }
}
