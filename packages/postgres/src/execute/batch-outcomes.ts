import { isErrorKind, type SinkError, type WriteOutcome } from "@sinks/core";
import type { MessageWrites } from "./segment.js";

/** What decides about messages behind one that failed. */
export interface FailureRules {
  readonly afterFailure: "continue" | "stop";
  readonly ordered: boolean;
  /** With `ordered`: lane of the message at this index. */
  readonly lanes: readonly number[] | null;
  readonly onPoison: "dead_letter_and_continue" | "park_key" | "stop";
}

/** A state to come back to. */
export interface OutcomesMark {
  readonly outcomes: readonly (WriteOutcome | undefined)[];
  readonly laneEnds: ReadonlyMap<number, number>;
  readonly end: number;
}

/**
 * The outcomes of a batch as they become known, and with them which later messages may still go (WO-GEN-13, FW-RUN-35,
 * FW-RUN-36).
 */
export class BatchOutcomes {
  readonly #rules: FailureRules;
  #outcomes: (WriteOutcome | undefined)[];
  /** Place of the failure that holds back what is behind it, by lane. */
  #laneEnds = new Map<number, number>();
  /** The same for the whole batch. */
  #end = Number.POSITIVE_INFINITY;

  constructor(size: number, rules: FailureRules) {
    this.#outcomes = new Array<WriteOutcome | undefined>(size).fill(undefined);
    this.#rules = rules;
  }

  /** False when an earlier failure holds the message back. */
  mayGo({ index }: MessageWrites): boolean {
    return index <= this.#end && index <= (this.#laneEnds.get(this.#laneOf(index)) ?? index);
  }

  applied(messages: readonly MessageWrites[]): void {
    for (const { index } of messages) this.#outcomes[index] = null;
  }

  /** Settles messages that failed together; what is behind them in their lanes, or in the batch, is held back as the rules say. */
  failed(messages: readonly MessageWrites[], error: SinkError): void {
    const { afterFailure, ordered, onPoison } = this.#rules;
    const endsLane = ordered && (!isErrorKind(error, "PermanentSinkError") || onPoison !== "dead_letter_and_continue");
    for (const { index } of messages) {
      this.#outcomes[index] = error;
      if (afterFailure === "stop") this.#end = Math.min(this.#end, index);
      if (endsLane) this.#laneEnds.set(this.#laneOf(index), Math.min(index, this.#laneEnds.get(this.#laneOf(index)) ?? index));
    }
  }

  /** Gives a failed message its final error; what it holds back stays held back. */
  restate({ index }: MessageWrites, error: SinkError): void {
    this.#outcomes[index] = error;
  }

  mark(): OutcomesMark {
    return { outcomes: [...this.#outcomes], laneEnds: new Map(this.#laneEnds), end: this.#end };
  }

  /** Forgets what became known since the mark: a transaction was rolled back. */
  returnTo({ outcomes, laneEnds, end }: OutcomesMark): void {
    this.#outcomes = [...outcomes];
    this.#laneEnds = new Map(laneEnds);
    this.#end = end;
  }

  /** What became of the message; undefined as long as nothing did. */
  of({ index }: MessageWrites): WriteOutcome | undefined {
    return this.#outcomes[index];
  }

  /** One outcome per message; what never came to its turn was not attempted. */
  close(notAttempted: () => SinkError): readonly WriteOutcome[] {
    return this.#outcomes.map((outcome) => (outcome === undefined ? notAttempted() : outcome));
  }

  #laneOf(index: number): number {
    return this.#rules.lanes?.[index] ?? 0;
  }
}
