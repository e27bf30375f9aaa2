import { type HealthcheckAbility, hasHealthcheck } from "../connector/abilities.js";
import type { Sink, WriteOutcome } from "../connector/sink.js";
import { DestinationUnavailableError, isErrorKind, type SinksError } from "../error/errors.js";
import { toSinkError } from "../error/to-sink-error.js";
import type { Telemetry } from "../telemetry/port.js";
import type { BackoffPolicy } from "./backoff.js";
import { Breaker } from "./breaker.js";

/** What finding out about an outage needs. */
export interface OutageParts {
  readonly policy: BackoffPolicy;
  readonly random: () => number;
  readonly now: () => number;
  readonly telemetry: Telemetry;
  readonly sink: () => Sink;
  /** Resolves secrets anew and starts a fresh sink in place of the old one (FW-ERR-01, credentials). */
  readonly renewSink: () => Promise<void>;
  /** Time a health check may take, ms. */
  readonly healthcheckMs: number;
  /** True when messages wait, whose write will prove more than a health check. */
  readonly somethingWaits: () => boolean;
  /** Something may go now, or at the time of the next probe. */
  readonly changed: () => void;
  readonly wakeUpAt: (at: number) => void;
}

/** An outage of the destination: the breaker, what opened it, and the probes that end it (FW-RUN-19). */
export class Outage {
  readonly #parts: OutageParts;
  readonly #breaker: Breaker;
  #error: SinksError | null = null;
  /** A login was refused since the last good sink: whatever fails meanwhile, the sink is renewed first. */
  #renews = false;
  /** A probe of the sink itself is out. */
  #asking = false;

  constructor(parts: OutageParts) {
    this.#parts = parts;
    this.#breaker = new Breaker(parts.policy, parts.random);
  }

  get isOver(): boolean {
    return this.#breaker.state === "closed";
  }

  /** What opened the breaker; null while it is closed. */
  get error(): SinksError | null {
    return this.isOver ? null : this.#error;
  }

  /** Writes that may be under way: all while closed, none while open or while the sink is asked, then one that proves it. */
  slots(all: number): number {
    if (this.#breaker.state === "open" || this.#asking) return 0;
    return this.#breaker.state === "probing" ? 1 : all;
  }

  /** A probe without a health check is a write of one message: what is lost by a failure is little. */
  get writesSingly(): boolean {
    return this.#breaker.state === "probing" && !hasHealthcheck(this.#parts.sink());
  }

  /** A write or a probe met the outage. */
  begin(error: SinksError): void {
    this.#error = error;
    this.#renews ||= isErrorKind(error, "CredentialsError");
    if (this.#breaker.trip(this.#parts.now())) {
      this.#parts.telemetry.log("warn", "destination unavailable; messages are held", { code: error.code, reason: error.message });
    }
    this.#parts.wakeUpAt(this.#breaker.probeAt);
  }

  /** A write succeeded. */
  end(): void {
    if (!this.#breaker.succeed()) return;
    this.#error = null;
    this.#parts.telemetry.log("info", "destination is back");
  }

  /** Probes when it is time to; `writing` says that a write is under way, which may prove something. */
  tick(now: number, writing: boolean): void {
    // The write that was to prove it came to nothing, and no message waits to be the next: probe again, or nothing would
    // ever be fetched.
    if (this.#breaker.state === "probing" && !this.#asking && !writing && !this.#parts.somethingWaits()) this.#breaker.trip(now);
    // A sink is not replaced under the hands of its writes.
    if (writing && this.#renews) return;
    if (this.#breaker.probe(now)) void this.#probe();
    else if (this.#breaker.state === "open") this.#parts.wakeUpAt(this.#breaker.probeAt);
  }

  async #probe(): Promise<void> {
    const { renewSink, sink, healthcheckMs, somethingWaits, changed } = this.#parts;
    this.#asking = true;
    try {
      if (this.#renews) {
        await renewSink();
        this.#renews = false;
      }
      const current = sink();
      if (hasHealthcheck(current)) await answered(current, healthcheckMs);
      if (!somethingWaits()) this.end();
    } catch (error) {
      this.begin(toSinkError(error));
    }
    this.#asking = false;
    changed();
  }
}

/** A health check that does not answer in time has failed, whether or not it minds its signal. */
async function answered(sink: HealthcheckAbility, ms: number): Promise<void> {
  const signal = AbortSignal.timeout(ms);
  await new Promise<void>((resolve, reject) => {
    signal.addEventListener("abort", () => reject(new DestinationUnavailableError("the health check did not answer in time")));
    sink.healthcheck(signal).then(resolve, reject);
  });
}

/** True for an outcome that says that the destination is away, not that anything is wrong with the message. */
export function isOutage(outcome: WriteOutcome): boolean {
  return isErrorKind(outcome, "DestinationUnavailableError") || isErrorKind(outcome, "CredentialsError");
}
