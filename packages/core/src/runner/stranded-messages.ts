import { isErrorKind } from "../error/errors.js";
import { describeApiFault } from "../source/api-fault.js";
import type { MarkResult } from "../source/consumer-mark.js";
import { pause } from "../source/pause.js";
import type { SequenceNumber } from "../source/sequence.js";
import { includes, rangesOf, type SequenceRanges, sequencesOf, subtract, unite } from "../source/sequence-ranges.js";
import type { Telemetry } from "../telemetry/port.js";
import { RepeatedWarning } from "./repeated-warning.js";
import { nothingStranded, readMark, type Stranded, writeMark } from "./stranded-mark.js";

/** Says that a mark cannot be kept, and what helps. */
export function reportUnmarked(telemetry: Telemetry): void {
  telemetry.log("error", "messages out of deliveries cannot be marked on the consumer; a crash now may leave them behind", {
    remedy: "allow the login to update the consumer, on a server from 2.10; after a crash, run sinks verify",
  });
}

/** What a start knows of messages that an earlier process may have left behind. */
export interface StrandedAtStart {
  /** The mark as it stands on the consumer now. */
  readonly text: string | null;
  /** What the mark says. */
  readonly marked: Stranded;
  /** Possible ones beside it. */
  readonly unmarked: SequenceRanges;
  /** The mark was refused, and that was said. */
  readonly refused: boolean;
}

/** Where the mark is kept. */
export interface MarkPort {
  update(change: (text: string | null) => string | null): Promise<MarkResult>;
}

/** Pause before a server that did not keep the mark is asked again. */
const askAgainMs = 500;
/** Longest wait for a server to keep the mark; then that is said, and nothing waits any more until the next reading asks again. */
const keepWithinMs = 30_000;

/**
 * Which messages the server will not send again, or perhaps not, and are not settled yet. The server forgets them with the next
 * ack, so they stand in a mark on its consumer, too: written before they are taken in, shortened as they are settled, read by
 * the next start. Several runners of a consumer share the mark: each adds and removes its own, and adds again what another one
 * has written over.
 */
export class StrandedMessages {
  readonly #port: MarkPort;
  readonly #telemetry: Telemetry;
  readonly #now: () => number;
  readonly #signal: AbortSignal;
  readonly #warning = new RepeatedWarning();
  readonly #certain = new Set<SequenceNumber>();
  #possible: SequenceRanges = [];
  /** Possible ones that are not worth a mark. */
  #unmarked: SequenceRanges = [];
  /** Of the possible ones, those that turned out to be none since the ranges were cut. */
  #cleared = new Set<SequenceNumber>();
  #written: string | null = null;
  /** What we wrote that may stand there now, joined gaps included. */
  #ours: SequenceRanges = [];
  #changed = false;
  #refused = false;
  #writing: Promise<boolean> | null = null;

  /** `now` in monotonic ms. After `signal` nothing is written but what `flush` asks for. */
  constructor(port: MarkPort, telemetry: Telemetry, now: () => number, signal: AbortSignal) {
    this.#port = port;
    this.#telemetry = telemetry;
    this.#now = now;
    this.#signal = signal;
  }

  /** Takes what a start has found. */
  begin({ text, marked, unmarked, refused }: StrandedAtStart): void {
    for (const sequence of sequencesOf(marked.certain)) this.#certain.add(sequence);
    this.#possible = marked.possible;
    this.#unmarked = unmarked;
    this.#written = text;
    this.#refused = refused;
    this.#ours = allOf(readMark(text) ?? nothingStranded);
  }

  get empty(): boolean {
    return this.#certain.size === 0 && this.#possible.length === 0 && this.#unmarked.length === 0;
  }

  get certain(): ReadonlySet<SequenceNumber> {
    return this.#certain;
  }

  get possible(): SequenceRanges {
    this.#cut();
    return unite(this.#possible, this.#unmarked);
  }

  /** True until the message is settled, or known not to be stranded. */
  has(sequence: SequenceNumber): boolean {
    return this.#certain.has(sequence) || this.#isPossible(sequence);
  }

  /** The mark as it should be. */
  get mark(): string | null {
    return writeMark(this.#wanted());
  }

  /** The server gave it up. */
  add(sequence: SequenceNumber): void {
    this.#certain.add(sequence);
    this.#changed = true;
  }

  /** Resolves when the server has kept all of it, or has refused to, or did not for too long: then it was said. */
  async kept(): Promise<void> {
    while ((await this.#write()) && this.#changed && !this.#refused && !this.#signal.aborted);
  }

  /** It was delivered again: while it is pending the server does not forget it. */
  came(sequence: SequenceNumber): void {
    if (!this.#isPossible(sequence)) return;
    this.#cleared.add(sequence);
    this.#changed = true;
  }

  /** It is settled, or there is nothing to settle. */
  settle(sequence: SequenceNumber): void {
    this.came(sequence);
    if (this.#certain.delete(sequence)) this.#changed = true;
  }

  /** Another stream: its messages are others. */
  forget(): void {
    this.#certain.clear();
    this.#possible = [];
    this.#unmarked = [];
    this.#cleared.clear();
    this.#written = null;
    this.#ours = [];
    this.#changed = false;
  }

  /** Takes the mark of a reading; what is missing there is written again, and so is what changed since. */
  see(text: string | null): void {
    if (text !== this.#written && !this.#isKept(text)) this.#changed = true;
    if (this.#changed) void this.#write();
  }

  /** Writes what has changed, once, although everything else has ended; what cannot be kept is said. */
  async flush(): Promise<void> {
    await this.#writing;
    if (!this.#changed || this.#refused) return;
    try {
      await this.#attempt();
    } catch (error) {
      this.#warn(error);
      this.#reportUnkept();
    }
  }

  #isPossible(sequence: SequenceNumber): boolean {
    if (this.#possible.length === 0 && this.#unmarked.length === 0) return false;
    return (includes(this.#possible, sequence) || includes(this.#unmarked, sequence)) && !this.#cleared.has(sequence);
  }

  #cut(): void {
    if (this.#cleared.size === 0) return;
    const cleared = rangesOf(this.#cleared);
    this.#possible = subtract(this.#possible, cleared);
    this.#unmarked = subtract(this.#unmarked, cleared);
    this.#cleared = new Set();
  }

  /** What the mark is to say. */
  #wanted(): Stranded {
    this.#cut();
    return { certain: rangesOf(this.#certain), possible: this.#possible };
  }

  #isKept(text: string | null): boolean {
    return subtract(allOf(this.#wanted()), allOf(readMark(text) ?? nothingStranded)).length === 0;
  }

  /** False when the server did not keep it for too long. */
  #write(): Promise<boolean> {
    this.#writing ??= this.#writeUntilKept().finally(() => {
      this.#writing = null;
    });
    return this.#writing;
  }

  async #writeUntilKept(): Promise<boolean> {
    const until = this.#now() + keepWithinMs;
    while (this.#changed && !this.#refused && !this.#signal.aborted) {
      try {
        await this.#attempt();
      } catch (error) {
        this.#changed = true;
        this.#warn(error);
        if (this.#now() >= until) {
          this.#reportUnkept();
          return false;
        }
        await pause(askAgainMs, this.#signal);
      }
    }
    return true;
  }

  /** A mark that only could not be shortened leaves nothing behind. */
  #reportUnkept(): void {
    if (!this.#isKept(this.#written)) reportUnmarked(this.#telemetry);
  }

  #warn(error: unknown): void {
    const reason = isErrorKind(error, "SinksError") ? error.code : describeApiFault(error);
    if (this.#warning.isDue(reason, this.#now())) this.#telemetry.log("warn", "the mark of stranded messages is not kept yet", { reason });
  }

  async #attempt(): Promise<void> {
    this.#changed = false;
    let written: Written = { text: null, ours: [] };
    const result = await this.#port.update((found) => {
      written = this.#merge(found);
      // Without an answer either text may stand there.
      this.#ours = unite(this.#ours, written.ours);
      return written.text;
    });
    if (result === "kept") {
      this.#written = written.text;
      this.#ours = written.ours;
      return;
    }
    this.#refused = true;
    reportUnmarked(this.#telemetry);
  }

  /** What another runner has written stays. */
  #merge(found: string | null): Written {
    const own = this.#wanted();
    const there = readMark(found) ?? nothingStranded;
    const certain = subtract(there.certain, this.#ours);
    const possible = subtract(there.possible, this.#ours);
    const text = writeMark({ certain: unite(own.certain, certain), possible: unite(own.possible, possible) });
    const others = unite(certain, possible);
    return { text, ours: subtract(allOf(readMark(text) ?? nothingStranded), others) };
  }
}

/** A text for the mark, and what of it is this runner's. */
interface Written {
  readonly text: string | null;
  readonly ours: SequenceRanges;
}

function allOf({ certain, possible }: Stranded): SequenceRanges {
  return unite(certain, possible);
}
